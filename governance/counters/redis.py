"""Counters in Redis: shared by every process, one script call for each operation.

Needs Redis 6.2 or newer, or what speaks like it, with scripts allowed. Amounts are 64-bit integers on the way in, on
the way out and inside. All keys carry one hash tag, so that a cluster keeps them on one node. What Redis holds is never
the only copy of money spent: a Redis that comes back empty is refilled from the ledger (`guarded.py`).
"""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final
from uuid import uuid4

import redis.asyncio as client
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, NoScriptError, RedisError, ResponseError

from governance.counters import CounterKey, Draw, Exhausted, Level, Memory
from governance.counters.turns import Turns
from governance.errors import StoreUnavailable, StoreUnfit

SILENCE_S: Final = 0.08
"""Seconds without any answer after which a Redis that is waited for counts as away."""

CONNECTIONS: Final = 16
QUIET_S: Final = 2
"""How long a refilled Redis takes no holds: each process looks at it every second, and restores its own by then."""

KEEPS_ALL: Final = "noeviction"
"""The policy of a Redis that refuses to take more when it is full, and forgets nothing."""

_REFILL_S: Final = 30
_EXPIRE_AT_ONCE: Final = 500
_UNFIT: Final = ("unknown command", "no permissions", "NOPERM", "ACL failure", "CROSSSLOT", "MOVED")
_SCRIPT: Final = files(__package__ or "").joinpath("hold.lua").read_text("utf-8")
_SHA: Final = hashlib.sha1(_SCRIPT.encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class RedisSetup:
    """How a Redis is set up; `evicts` names the policy by which it forgets keys when it is full, if it does."""

    version: str
    evicts: str | None


class RedisCounters:
    """The `Home` of several processes that share a Redis."""

    def __init__(
        self, url: str, namespace: str = "sluice", *, quiet_s: float = QUIET_S, silence_s: float = SILENCE_S
    ) -> None:
        """Prepare a client; it connects when first used.

        Args:
            url: `redis://`, `rediss://` or `unix://`.
            namespace: Sets installations apart that share one Redis.
            quiet_s: Seconds that a Redis takes no holds after it was refilled.
            silence_s: Seconds that it may answer nobody while it is waited for.

        Raises:
            StoreUnavailable: The address is none.
        """
        try:
            pool = client.BlockingConnectionPool.from_url(
                url, max_connections=CONNECTIONS, timeout=None, retry=Retry(NoBackoff(), 0), socket_timeout=None
            )
        except ValueError as error:
            raise StoreUnavailable(f"REDIS_URL is no address of a Redis: {error}") from None
        self._client: Any = client.Redis.from_pool(pool)
        self._prefix = f"sluice:1:{{{namespace}}}:"
        self._quiet_s = quiet_s
        self._turns = Turns("Redis", CONNECTIONS, silence_s)
        self._me = uuid4().hex
        self._generation = ""

    async def hold(self, hold_id: str, draws: Sequence[Draw], expires_at: float) -> tuple[Level, ...] | Exhausted:
        """Draw on every counter, or on none; see `Counters.hold`."""
        return _taken(await self._hold(hold_id, draws, expires_at, limited=True), draws)

    async def redraw(self, hold_id: str, draws: Sequence[Draw]) -> tuple[Level, ...] | Exhausted | None:
        """Let an open hold draw this in place of what it draws; see `Counters.redraw`."""
        found = await self._call("redraw", hold_id, *_rows(draws))
        return None if found is None else _taken(found, draws)

    async def settle(self, hold_id: str, actuals: Sequence[int]) -> tuple[Level, ...] | None:
        """End a hold at what was really used; see `Counters.settle`."""
        found = await self._call("settle", hold_id, *actuals)
        return None if found is None else _levels(found)

    async def cancel(self, hold_id: str) -> bool:
        """End a hold as if it had never been; see `Counters.cancel`."""
        return bool(await self._call("cancel", hold_id))

    async def expire(self, now: float) -> tuple[str, ...]:
        """End every hold past its lease; see `Counters.expire`. Windows that are over go away by themselves."""
        late: list[str] = []
        while True:
            some = await self._call("expire", repr(now), _EXPIRE_AT_ONCE)
            late += [hold_id.decode() for hold_id in some]
            if len(some) < _EXPIRE_AT_ONCE:
                return tuple(late)

    async def seed(self, counter: CounterKey, settled: int) -> None:
        """Raise a counter's settled amount to at least this much; see `Counters.seed`."""
        await self._call("seed", counter.text, counter.kept_until, settled)

    async def read(self, counters: Sequence[CounterKey]) -> tuple[Level, ...]:
        """Read the levels of counters; see `Counters.read`."""
        return _levels(await self._call("read", *[counter.text for counter in counters]))

    async def reach(self) -> Memory:
        """Reach the store and say what it remembers; see `Home.reach`."""
        found = await self._call("reach", self._me, _REFILL_S)
        if found is None:
            raise StoreUnavailable("another process is refilling it from the ledger")
        before, self._generation = self._generation, found.decode()
        if not self._generation:
            return Memory.EMPTY
        return Memory.SAME if self._generation == before else Memory.ANOTHER

    async def remember(self) -> None:
        """Declare the store refilled; see `Home.remember`."""
        self._generation = (await self._call("remember", self._me, self._quiet_s)).decode()
        self._me = uuid4().hex

    async def restore(self, hold_id: str, draws: Sequence[Draw], expires_at: float) -> None:
        """Have a hold that was admitted before draw just this; see `Home.restore`."""
        await self._hold(hold_id, draws, expires_at, limited=False)

    async def book(self, hold_id: str, draws: Sequence[Draw], actuals: Sequence[int]) -> None:
        """Count what a hold came to, once; see `Home.book`."""
        rows = [(d.counter.text, d.counter.kept_until, actual) for d, actual in zip(draws, actuals, strict=True)]
        await self._call("book", hold_id, *[value for row in rows for value in row])

    async def ready(self) -> bool:
        """Say whether holds are taken; see `Home.ready`. Opens every connection, so that none is opened in a rush."""
        await asyncio.gather(*[self._call("read") for _ in range(CONNECTIONS)])
        return bool(await self._call("ready"))

    async def erase(self) -> None:
        """Take away everything that this namespace has in the store, for one that nobody will use again."""
        try:
            async for key in self._client.scan_iter(match=f"{self._prefix}*", count=1_000):
                await self._client.unlink(key)
        except (RedisError, OSError) as error:
            raise _trouble(error) from error

    async def examine(self) -> RedisSetup:
        """Look how the store is set up, and whether it could do the work; changes nothing.

        Raises:
            StoreUnavailable: It does not answer.
            StoreUnfit: It does not let us in, or does not run scripts on our keys.
        """
        await self._call("probe")
        told = await self._turns.take(self._info)
        limited, policy = int(told.get("maxmemory", 0)), str(told.get("maxmemory_policy", KEEPS_ALL))
        evicts = policy if limited and policy != KEEPS_ALL else None
        return RedisSetup(str(told.get("redis_version", "unknown")), evicts)

    async def close(self) -> None:
        """Close every connection."""
        await self._turns.close()
        await self._client.aclose(close_connection_pool=True)

    async def _hold(self, hold_id: str, draws: Sequence[Draw], expires_at: float, *, limited: bool) -> list[Any]:
        return await self._call("hold", hold_id, repr(expires_at), int(limited), *_rows(draws))

    async def _call(self, operation: str, *arguments: str | float) -> Any:
        return await self._turns.take(lambda: self._run(operation, *arguments))

    async def _info(self) -> Mapping[str, Any]:
        try:
            return await self._client.info()
        except ResponseError:  # some users may run scripts and not this
            return {}
        except (RedisError, OSError) as error:
            raise _trouble(error) from error

    async def _run(self, operation: str, *arguments: str | float) -> Any:
        given = (operation, self._generation, *arguments)
        try:
            try:
                return await self._client.execute_command("EVALSHA", _SHA, 1, self._prefix, *given)
            except NoScriptError:  # new here, or started again: it looks whether what it remembers is still true
                return await self._client.execute_command("EVAL", _SCRIPT, 2, self._prefix, self._prefix, *given)
        except (RedisError, OSError) as error:
            raise _trouble(error) from error


def _rows(draws: Sequence[Draw]) -> list[str | float]:
    rows = [(d.counter.text, d.counter.kept_until, d.amount, d.limit, d.kept) for d in draws]
    return [value for row in rows for value in row]


def _taken(found: Sequence[Any], draws: Sequence[Draw]) -> tuple[Level, ...] | Exhausted:
    fits, *rest = found
    if fits:
        return _levels(rest[0])
    index, settled, held = rest
    return Exhausted(draws[index], Level(int(settled), int(held)))


def _levels(flat: Sequence[bytes]) -> tuple[Level, ...]:
    return tuple([Level(int(flat[n]), int(flat[n + 1])) for n in range(0, len(flat), 2)])


def _trouble(error: Exception) -> StoreUnavailable:
    """Say what is wrong with a Redis, and whether waiting can help."""
    if isinstance(error.__cause__, AuthenticationError) or isinstance(error, AuthenticationError):
        return StoreUnfit("Redis does not let us in: the user or the password is wrong")
    if isinstance(error, ResponseError):
        kind = StoreUnfit if any(sign in str(error) for sign in _UNFIT) else StoreUnavailable
        return kind(f"Redis does not run our script: {error}")
    return StoreUnavailable(f"Redis does not answer: {type(error).__name__}")
