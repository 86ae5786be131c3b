"""Which home the counters have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance.counters.alone import OnAway
from governance.counters.guarded import GuardedCounters
from governance.counters.memory import MemoryCounters
from governance.errors import StoreUnfit

if TYPE_CHECKING:
    from governance.counters.redis import RedisCounters, RedisSetup

EXAMINE_S: Final = 2.0
NO_SHARED_HOME = (
    "budgets are counted in one process's memory, and more workers need counters that all of them share: "
    "set REDIS_URL, or a DATABASE_URL of PostgreSQL, or start with WORKERS=1"
)


def has_shared_home(redis_url: str, database_url: str) -> bool:
    """Say whether there is a store in which several processes can count together."""
    return bool(redis_url) or database_url.startswith("postgres")


def open_counters(
    *, redis_url: str, database_url: str, workers: int, on_away: OnAway, silence_s: float | None = None
) -> MemoryCounters | GuardedCounters:
    """Open the counters: in Redis where there is one, else in PostgreSQL for several workers, else in memory.

    Guarded counters must be watched before they are used; see `GuardedCounters.watch`. `silence_s` is how long the
    store may answer nobody while it is waited for; each kind has its own where none is given.

    Raises:
        StoreUnfit: Several workers have nothing to share.
        StoreUnavailable: An address is none, or its driver is not installed.
    """
    if redis_url:
        return GuardedCounters(_redis(redis_url, silence_s), on_away)
    if workers == 1:
        return MemoryCounters()
    if not has_shared_home(redis_url, database_url):
        raise StoreUnfit(NO_SHARED_HOME)
    from governance.counters import postgres  # noqa: PLC0415

    counters = postgres.PostgresCounters(database_url, silence_s=silence_s or postgres.SILENCE_S)
    return GuardedCounters(counters, on_away)


async def examine_redis(url: str) -> RedisSetup:
    """Look how a Redis is set up; see `RedisCounters.examine`.

    Raises:
        StoreUnavailable: It does not answer, or the address is none.
        StoreUnfit: It cannot do the work, or its driver is not installed.
    """
    counters = _redis(url, EXAMINE_S)
    try:
        return await counters.examine()
    finally:
        await counters.close()


def _redis(url: str, silence_s: float | None) -> RedisCounters:
    try:
        from governance.counters import redis  # noqa: PLC0415  an extra that others do without
    except ModuleNotFoundError as error:
        raise StoreUnfit(f"REDIS_URL needs {error.name}: pip install 'sluicegate[redis]'") from error
    return redis.RedisCounters(url, silence_s=silence_s or redis.SILENCE_S)
