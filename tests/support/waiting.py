"""Waiting for something to become true, with a deadline instead of a guess."""

from collections.abc import Awaitable, Callable

import anyio


async def until(condition: Callable[[], bool], deadline_s: float = 5.0) -> None:
    """Look again and again, and raise `TimeoutError` when it does not become true in time."""
    with anyio.fail_after(deadline_s):
        while not condition():  # noqa: ASYNC110  the condition may be about a file or another process: no event to wait for
            await anyio.sleep(0.002)


async def eventually(condition: Callable[[], Awaitable[bool]], deadline_s: float = 10.0) -> None:
    """Ask again and again, and raise `TimeoutError` when the answer does not become yes in time."""
    with anyio.fail_after(deadline_s):
        while not await condition():  # noqa: ASYNC110  the answer comes from another process: no event to wait for
            await anyio.sleep(0.02)
