"""What the policy in the shade would have done, for a gateway that is asked: found in a process of its own.

A replay computes for seconds on end, and what is answered here meanwhile must not wait for it.
"""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime
from multiprocessing import get_context
from typing import Any

from gateway.errors import UnknownPolicy
from gateway.policy.history.shadowing import last_shade
from gateway.policy.problems import PolicyInvalid
from governance.database import open_database


class ShadeReports:
    """Reports of the shadow, one at a time.

    Args:
        url: where the history and the ledger are.
        env: where a policy's `${NAME}` is looked up.
        now: an aware clock.
    """

    def __init__(self, url: str, env: Mapping[str, str], now: Callable[[], datetime]) -> None:
        self._url = url
        self._env = env
        self._now = now
        self._turn = asyncio.Lock()

    async def latest(self) -> dict[str, Any] | None:
        """Return what the policy in the shade would have done up to now, or else the last one that was there.

        Raises:
            UnknownPolicy: This program cannot read it.
            StoreUnavailable: The database does not answer.
        """
        async with self._turn:
            return await asyncio.to_thread(_elsewhere, self._url, dict(self._env), self._now())


def _elsewhere(url: str, env: dict[str, str], at: datetime) -> dict[str, Any] | None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_found, url, env, at).result()


def _found(url: str, env: dict[str, str], at: datetime) -> dict[str, Any] | None:
    return asyncio.run(_report(url, env, at))


async def _report(url: str, env: dict[str, str], at: datetime) -> dict[str, Any] | None:
    database = open_database(url)
    try:
        shade = await last_shade(database)
        return None if shade is None else shade.facts(await shade.report(database, env, at, lambda _: None))
    except PolicyInvalid as invalid:
        raise UnknownPolicy(f"the policy in the shade cannot be read here: {invalid.problems[0]}", "") from None
    finally:
        await database.close()
