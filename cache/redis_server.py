"""A Redis that several processes share, asked within a budget and left alone for a while when it does not answer.

No caller ever waits for it longer than the budget. A call that is given up is cancelled, by which the driver closes its
connection, so that nobody else gets its answer; that end itself is not waited for, because a driver may put it off
until the server is back.
"""

from __future__ import annotations

import asyncio
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import redis.asyncio as client
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError, RedisError

from cache.errors import SharedAway

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

BUDGET_S: Final = 0.05
"""Seconds that an answer is waited for."""

REST_S: Final = 1.0
"""Seconds that nothing is asked of a server that was away."""

CONNECTIONS: Final = 16


class SharedRedis:
    """One client of the server, with one script of ours that it runs in one step."""

    def __init__(self, url: str, script: tuple[str, str], budget_s: float, ticks: Callable[[], float]) -> None:
        """Prepare a client; it connects when first used.

        Args:
            url: `redis://`, `rediss://` or `unix://`.
            script: The package and the file of the script.
            budget_s: Seconds that an answer is waited for.
            ticks: A monotonic clock in seconds.

        Raises:
            ValueError: The address is none.
        """
        # The older protocol answers a search by a flat list of bytes.
        pool = client.BlockingConnectionPool.from_url(
            url, max_connections=CONNECTIONS, timeout=None, retry=Retry(NoBackoff(), 0), socket_timeout=None, protocol=2
        )
        self.client: Any = client.Redis.from_pool(pool)
        package, name = script
        self._script = files(package).joinpath(name).read_text("utf-8")
        self._sha = hashlib.sha1(self._script.encode(), usedforsecurity=False).hexdigest()
        self._budget_s = budget_s
        self._ticks = ticks
        self._away_until = 0.0
        self._abandoned: set[asyncio.Task[Any]] = set()

    @property
    def resting(self) -> bool:
        """Whether it was away a moment ago, so that it is not asked."""
        return self._ticks() < self._away_until

    async def command(self, *arguments: str | bytes | float, within_s: float | None = None) -> Any:
        """Have the server do a command; with `within_s` it is asked even while it rests, and waited for so long.

        Raises:
            SharedAway: It does not answer in time, or cannot do this.
        """
        return await self._answer(lambda: self.client.execute_command(*arguments), within_s)

    async def script(self, *arguments: str | bytes | float, within_s: float | None = None) -> Any:
        """Have the server run the script, with a prefix of its keys and what it is to do; see `command`."""
        return await self._answer(lambda: self._run(*arguments), within_s)

    async def close(self) -> None:
        """Close every connection, and with them the calls that nobody waits for any more."""
        for task in self._abandoned:
            task.cancel()
        if self._abandoned:
            await asyncio.wait(self._abandoned)
        await self.client.aclose(close_connection_pool=True)

    async def _run(self, *arguments: str | bytes | float) -> Any:
        try:
            return await self.client.execute_command("EVALSHA", self._sha, 1, *arguments)
        except NoScriptError:
            return await self.client.execute_command("EVAL", self._script, 1, *arguments)

    async def _answer(self, call: Callable[[], Coroutine[Any, Any, Any]], within_s: float | None) -> Any:
        if self.resting and within_s is None:
            raise SharedAway("Redis did not answer a moment ago")
        task = asyncio.ensure_future(call())
        try:
            done, _ = await asyncio.wait({task}, timeout=within_s or self._budget_s)
        finally:
            if not task.done():  # in time, or because whoever waited was cut off
                task.cancel()
                self._abandoned.add(task)
                task.add_done_callback(self._forget)
        if not done:
            self._away_until = self._ticks() + REST_S
            raise SharedAway("Redis does not answer in time")
        try:
            return task.result()
        except (RedisError, OSError) as error:
            self._away_until = self._ticks() + REST_S
            raise SharedAway(f"Redis does not serve this: {type(error).__name__}: {error}") from error

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._abandoned.discard(task)
        if not task.cancelled():
            task.exception()  # it has been seen: nobody waits for it
