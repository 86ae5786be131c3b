"""What the governance of one request costs, under policies of growing density and in each home of the counters."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final
from uuid import uuid4

from gateway.bench.rounds import Figure, measure
from gateway.bench.step import DIFFERENT_REQUESTS, open_books
from gateway.bench.trips import Trips
from gateway.services import SHARED_LEVELS_S
from governance.counters import Counters
from governance.counters.guarded import GuardedCounters
from governance.counters.memory import MemoryCounters
from governance.errors import StoreUnfit

POLICIES: Final = {
    "plain": "a day budget at 3 scopes",
    "company": "and steps, rates, loop limits",
    "dense": "and rolling, for each session",
}
_TRIPS_TAKE: Final = 4
"""By how much fewer requests there are in a round where each waits for trips."""

_PATIENT_S: Final = 10.0
"""How long Redis may take: a gateway would not wait so long, but here a busy machine must not end the bench."""


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
    """Measure every setting in memory, and in a Redis where there is one, each with a start that warms it up.

    Raises:
        StoreUnavailable: The Redis does not answer.
    """
    for policy in POLICIES:
        yield Row(policy, "memory", await _figure(policy, MemoryCounters(), 0.0, rounds, requests), 0.0)
    requests = max(1, requests // _TRIPS_TAKE)
    for policy in POLICIES if redis_url else ():
        async with _redis(redis_url) as trips:
            figure = await _figure(policy, trips, SHARED_LEVELS_S, rounds, requests)
            yield Row(policy, "redis", figure, trips.count / rounds / (requests + DIFFERENT_REQUESTS))


async def _figure(policy: str, counters: Counters, levels_for_s: float, rounds: int, requests: int) -> Figure:
    size = DIFFERENT_REQUESTS + requests
    async with open_books(policy, counters) as books:
        opened = partial(books.round, size=size, levels_for_s=levels_for_s)
        return await measure(opened, rounds=rounds, warm_up=DIFFERENT_REQUESTS, size=requests)


@asynccontextmanager
async def _redis(url: str) -> AsyncGenerator[Trips]:
    """Open counters of our own in a Redis, and take away all that they leave there."""
    try:
        from governance.counters.redis import RedisCounters  # noqa: PLC0415  an extra that others do without
    except ModuleNotFoundError as error:
        raise StoreUnfit(f"REDIS_URL needs {error.name}: pip install 'sluicegate[redis]'") from error
    home = RedisCounters(url, f"bench-{uuid4().hex}", quiet_s=0, silence_s=_PATIENT_S)
    guard = GuardedCounters(home, "closed")
    async with guard.watch(_nothing):
        try:
            yield Trips(guard)
        finally:
            await home.erase()


async def _nothing() -> None:
    """Refill from no ledger: nothing has been spent."""
