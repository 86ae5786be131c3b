"""Traffic of the past: requests that a real purse let through or refused under a policy, on a clock of their own."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from governance.attribution import Attribution
from governance.counters.memory import MemoryCounters
from governance.errors import BudgetExhausted, RateLimited
from governance.ledger.events import Attempt, EventKind, LedgerEvent, Opening, Settlement
from governance.ledger.reading.traffic import COLUMNS
from governance.ledger.rows import event_row
from governance.limits import WorstCase
from governance.prices import Usage, cost_of, worst_case
from governance.purse import Purse
from tests.support.ledgers import RecordingLedger
from tests.support.requests import NOON

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gateway.policy.source import LoadedPolicy
    from governance.prices import Price
    from governance.purse import Hold

# As SQLAlchemy's rows are: by place and by name.
_NAMES = [column.key for column in COLUMNS]
PastRow: Any = namedtuple("PastRow", _NAMES)  # noqa: PYI024  # pyright: ignore[reportUntypedNamedTuple]


@dataclass(frozen=True, slots=True)
class Past:
    """One request: how many seconds after the one before, who, which model, its tokens and how long it took."""

    gap_s: float
    team: str
    app: str
    model: str
    prompt: int
    output: int
    room: int
    seconds: float
    route: str = "pinned"


@dataclass
class Recorder:
    """Takes requests one after another, as a gateway would under a policy, and keeps its ledger."""

    policy: LoadedPolicy
    prices: dict[str, Price]
    at: datetime = NOON
    ledger: RecordingLedger = field(default_factory=RecordingLedger)
    _open: list[tuple[float, int, Hold, Settlement]] = field(default_factory=list[Any])
    _clock: float = 0.0

    async def record(self, traffic: Iterable[Past]) -> None:
        """Let requests through or refuse them, in order, ending others when their time has come."""
        purse = Purse(MemoryCounters(), self.ledger, lambda: self._clock)
        for number, past in enumerate(traffic):
            self.at += timedelta(seconds=past.gap_s)
            await self._end(self.at.timestamp())
            self._clock = self.at.timestamp()
            await self._take(purse, f"r{number}", past)
        await self._end(float("inf"))

    async def _take(self, purse: Purse, request_id: str, past: Past) -> None:
        who, price = Attribution(past.team, past.app), self.prices[past.model]
        opening = Opening(
            request_id=request_id,
            at=self.at,
            endpoint="chat",
            attribution=who,
            key_id="k1",
            model=past.model,
            policy_version=self.policy.version,
            provider="engine",
            route=past.route,
        )
        grant = self.policy.rules.grant(who, "k1")
        most = past.output + past.room
        worst = WorstCase(worst_case(past.prompt, most, price), past.prompt + most)
        try:
            hold = purse.hold(opening, grant.budgets, grant.rates, worst, tz=self.policy.rules.timezone, lease_s=1e6)
            await hold.__aenter__()
        except BudgetExhausted:
            purse.refused(opening, "insufficient_quota", 429)
        except RateLimited:
            purse.refused(opening, "rate_limit_exceeded", 429)
        else:
            end = self.at.timestamp() + past.seconds
            heappush(self._open, (end, len(self.ledger.entries), hold, _settlement(past, price, self.at)))

    async def _end(self, now: float) -> None:
        while self._open and self._open[0][0] <= now:
            self._clock, _, hold, settlement = heappop(self._open)
            await hold.settle(settlement)

    def rows(self) -> Sequence[Any]:
        """Return the terminal events as the ledger would read them back, in order of arrival."""
        ended = [event for event in self.ledger.events if event.kind is not EventKind.HELD]
        return sorted((past_row(event) for event in ended), key=lambda row: row.at)


def past_row(event: LedgerEvent) -> Any:
    """Return an event as a row of traffic."""
    columns = event_row(event)
    return PastRow(**{name: columns[name] for name in _NAMES})


def _settlement(past: Past, price: Price, at: datetime) -> Settlement:
    usage = Usage(fresh_input=past.prompt, output=past.output)
    attempt = Attempt(
        at=at,
        purpose="answer",
        provider="engine",
        model=past.model,
        upstream_model=past.model,
        outcome="ok",
        price=price,
        cost=cost_of(usage, price),
        duration_ms=past.seconds * 1000,
        status=200,
        usage=usage,
    )
    return Settlement(outcome="ok", status=200, attempts=(attempt,), usage=usage)
