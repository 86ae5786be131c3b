"""Things done again and again beside the requests. A round that fails is told of and tried again; it never ends."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType

from structlog.typing import FilteringBoundLogger

Round = tuple[float, str, Callable[[], Awaitable[object]]]
"""Seconds between two rounds, what they are called in the log, and what to do."""


async def rounds(
    log: FilteringBoundLogger, *every: Round
) -> Callable[[type[BaseException] | None, BaseException | None, TracebackType | None], Awaitable[None]]:
    """Start the rounds and return how to stop them, in the form that an exit stack takes."""
    tasks = [asyncio.create_task(_go_round(log, *one), name=one[1]) for one in every]

    async def stop(*_: object) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    return stop


async def _go_round(log: FilteringBoundLogger, seconds: float, name: str, act: Callable[[], Awaitable[object]]) -> None:
    failing = False
    while True:
        await asyncio.sleep(seconds)
        try:
            await act()
        except Exception as error:  # noqa: BLE001  one failed round must not end all the later ones
            if not failing:
                log.warning("round failed", round=name, reason=f"{type(error).__name__}: {error}")
            failing = True
        else:
            failing = False
