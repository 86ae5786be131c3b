"""Which home the counters have."""

from governance.counters.alone import OnAway
from governance.counters.guarded import GuardedCounters
from governance.counters.memory import MemoryCounters
from governance.errors import StoreUnfit

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
        try:
            from governance.counters import redis  # noqa: PLC0415  an extra that others do without
        except ModuleNotFoundError as error:
            raise StoreUnfit(f"REDIS_URL needs {error.name}: pip install 'sluicegate[redis]'") from error
        return GuardedCounters(redis.RedisCounters(redis_url, silence_s=silence_s or redis.SILENCE_S), on_away)
    if workers == 1:
        return MemoryCounters()
    if not has_shared_home(redis_url, database_url):
        raise StoreUnfit(NO_SHARED_HOME)
    from governance.counters import postgres  # noqa: PLC0415

    counters = postgres.PostgresCounters(database_url, silence_s=silence_s or postgres.SILENCE_S)
    return GuardedCounters(counters, on_away)
