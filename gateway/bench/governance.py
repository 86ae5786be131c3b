"""What the governance of one request costs, under policies of growing density and in each home of the counters."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from gateway.bench.rounds import Figure, measure
from gateway.bench.step import open_step
from gateway.bench.trips import Trips
from governance.counters.guarded import GuardedCounters
from governance.counters.memory import MemoryCounters
from governance.errors import StoreUnfit

POLICIES: Final = {
    "plain": "a day budget at 3 scopes",
    "company": "and steps, rates, loop limits",
    "dense": "and rolling, for each session",
}
_LEVELS_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Row:
    """What one request costs in one setting.

    Attributes:
        policy: Which policy of `policies/` rules.
        home: Where the counters are: `memory` or `redis`.
        figure: What it takes of this process's CPU.
        trips: Trips to a store that processes share, for each request; the last of them is after the answer.
    """

    policy: str
    home: str
    figure: Figure
    trips: float


async def rows(*, rounds: int, requests: int, redis_url: str = "") -> AsyncGenerator[Row]:
    """Measure every setting in memory, and in a Redis where there is one, each after a round that warms it up.

    Raises:
        StoreUnavailable: The Redis does not answer.
    """
    spans = [range(n * requests, (n + 1) * requests) for n in range(rounds + 1)]
    for policy in POLICIES:
        async with open_step(policy, MemoryCounters(), 0.0, spans[-1].stop) as step:
            await measure(step, spans[:1])
            yield Row(policy, "memory", await measure(step, spans[1:]), 0.0)
    for policy in POLICIES if redis_url else ():
        async with _redis(redis_url) as trips, open_step(policy, trips, _LEVELS_S, spans[-1].stop) as step:
            await measure(step, spans[:1])
            before = trips.count
            figure = await measure(step, spans[1:])
            yield Row(policy, "redis", figure, (trips.count - before) / (rounds * requests))


@asynccontextmanager
async def _redis(url: str) -> AsyncGenerator[Trips]:
    """Open counters of our own in a Redis, and take away all that they leave there."""
    try:
        from governance.counters.redis import RedisCounters  # noqa: PLC0415  an extra that others do without
    except ModuleNotFoundError as error:
        raise StoreUnfit(f"REDIS_URL needs {error.name}: pip install 'sluicegate[redis]'") from error
    home = RedisCounters(url, f"bench-{uuid4().hex}", quiet_s=0)
    guard = GuardedCounters(home, "closed")
    async with guard.watch(_nothing):
        try:
            yield Trips(guard)
        finally:
            await home.erase()


async def _nothing() -> None:
    """Refill from no ledger: nothing has been spent."""
