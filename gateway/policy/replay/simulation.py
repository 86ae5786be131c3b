"""Past traffic under another policy: in order of arrival, on real counters, by the real rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from heapq import heappop, heappush
from math import inf
from typing import TYPE_CHECKING, Final

from gateway.policy.replay.outcomes import TeamOutcome
from gateway.policy.replay.rulings import CACHE
from governance.counters import Exhausted, Unit
from governance.counters.memory import MemoryCounters
from governance.ledger.reading.traffic import TOKENS
from governance.prices import Usage, cost_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gateway.policy.replay.lanes import Lanes
    from gateway.policy.replay.likely import LikelyCalls
    from gateway.policy.replay.rulings import Ruling, Rulings
    from governance.counters import CounterKey
    from governance.ledger.reading.traffic import Past
    from governance.windows import Span

DAY: Final = 86_400_000_000
DECIDED_BY_POLICY: Final = frozenset({"insufficient_quota", "rate_limit_exceeded", "model_not_allowed"})
"""Refusals that another policy may undo; all others had reasons of their own."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A call as it would run: what it holds and costs in nano-dollars, its tokens, and how long it takes.

    `requests` is 0 for one that was cancelled, which counts as if it had never been. `estimated` tells that its cost is
    no fact of the ledger, `unpriced` that nobody knows it.
    """

    held: int
    cost: int
    tokens: int
    duration_ms: float
    requests: int = 1
    estimated: bool = False
    unpriced: bool = False


class Simulation:
    """Runs requests through a policy one after another.

    Args:
        rulings: What the policy makes of each kind of request.
        likely: What calls would have been like that were never made.
        queues: Budgets, as scope and window, whose last step sends requests to wait.
    """

    def __init__(self, rulings: Rulings, likely: LikelyCalls, queues: frozenset[tuple[str, Span]]) -> None:
        self.teams: dict[str, TeamOutcome] = {}
        self._rulings = rulings
        self._likely = likely
        self._queues = queues
        self._counters = MemoryCounters()
        self._open: list[tuple[int, int, list[int]]] = []
        self._holds = 0
        self._sweep_at = 0

    async def seed(self, counter: CounterKey, settled: int) -> None:
        """Begin with what was spent before the first request, in a window that was running then."""
        await self._counters.seed(counter, settled)

    async def run(self, rows: Iterable[Past]) -> None:
        """Run requests that arrived after those before."""
        for row in rows:
            await self._take(row)

    async def _take(self, row: Past) -> None:
        at, kind, held, cost = row[:4]
        if self._open and self._open[0][0] <= at:
            await self._end(at)
        if at >= self._sweep_at:
            await self._sweep(at)
        ruling = self._rulings.of(row)
        ruling.lanes.turn(at)
        outcome = self.teams.get(row.team)
        if outcome is None:
            outcome = self.teams[row.team] = TeamOutcome()
        outcome.requests += 1
        outcome.recorded += cost
        if ruling.same and not ruling.lanes.diverged:
            # As it was: let through or refused by the same rules in the same state.
            outcome.replayed += cost
            if held:
                await self._hold(at, _recorded(row), ruling.lanes, forced=True)
        elif kind == "refused":
            await self._reconsider(row, ruling, outcome)
        else:
            await self._decide(row, ruling, outcome)

    async def _decide(self, row: Past, ruling: Ruling, outcome: TeamOutcome) -> None:
        """Decide anew about a request that was let through."""
        if row.provider == CACHE and ruling.cached:
            return
        past = _recorded(row)
        call = past if ruling.code else _anew(row, ruling, past)
        obstacle = ruling.code or await self._admit(row.at, call, ruling.lanes)
        if not obstacle:
            outcome.replayed += call.cost
            outcome.estimated += call.estimated
            outcome.unpriced += call.unpriced
            if ruling.model != row.model:
                outcome.moved += 1
                outcome.moved_zone += ruling.zone_changed
                outcome.moves[row.model, ruling.model] += 1
            if call != past:
                ruling.lanes.diverge()
            return
        ruling.lanes.diverge()
        outcome.reasons[obstacle] += 1
        if obstacle.startswith(_QUEUED):
            outcome.queued += 1
            outcome.replayed += call.cost
        else:
            outcome.refused += 1

    async def _reconsider(self, row: Past, ruling: Ruling, outcome: TeamOutcome) -> None:
        """Decide anew about a request that was refused."""
        if ruling.code or row.code not in DECIDED_BY_POLICY:
            return
        call = self._imagined(row, ruling)
        if await self._admit(row.at, call, ruling.lanes):
            return
        outcome.admitted += 1
        outcome.replayed += call.cost
        outcome.estimated += 1
        outcome.unpriced += call.unpriced
        ruling.lanes.diverge()

    def _imagined(self, row: Past, ruling: Ruling) -> _Call:
        likely = self._likely.of(row.team, row.app, ruling.model)
        price = ruling.price or self._rulings.recorded.get(ruling.model)
        if likely is None or price is None:
            return _Call(0, 0, 0, 0, estimated=True, unpriced=True)
        usage = _capped(likely.usage, ruling.ceiling)
        held = _grown(likely.held, ruling.hold)
        return _Call(held, cost_of(usage, price).nanos, usage.total, likely.duration_ms, estimated=True)

    async def _admit(self, at: int, call: _Call, lanes: Lanes) -> str:
        """Hold a call, or say what stands in its way."""
        for budget in lanes.each:
            if budget.per_request is not None and call.held > budget.per_request.nanos:
                return f"{budget.scope} per request"
        met = await self._hold(at, call, lanes, forced=False)
        if met is None:
            return ""
        counter = met.draw.counter
        if counter.unit is not Unit.SPEND or counter.window is None:
            return f"{counter.scope} {counter.unit}"
        queued = (counter.scope, counter.window.kind) in self._queues
        return f"{_QUEUED if queued else ''}{counter.scope} per {counter.window.kind}"

    async def _hold(self, at: int, call: _Call, lanes: Lanes, *, forced: bool) -> Exhausted | None:
        draws = lanes.draws((call.held, 1, call.tokens, 1), forced=forced)
        if not draws:
            return None
        self._holds += 1
        levels = await self._counters.hold(str(self._holds), draws, inf)
        if isinstance(levels, Exhausted):
            return levels
        actuals = lanes.actuals((call.cost, call.requests, call.tokens, 0))
        heappush(self._open, (at + round(call.duration_ms * 1000), self._holds, actuals))
        return None

    async def _end(self, at: int) -> None:
        """End every call that was over by now."""
        while self._open and self._open[0][0] <= at:
            _, number, actuals = heappop(self._open)
            await self._counters.settle(str(number), actuals)

    async def _sweep(self, at: int) -> None:
        """Forget the windows that lie behind."""
        self._sweep_at = at + DAY
        await self._counters.expire(at / 1e6)


_QUEUED: Final = "queued by "


def _recorded(row: Past) -> _Call:
    _, kind, held, cost, duration_ms = row[:5]
    return _Call(held, cost, _total(row), duration_ms or 0.0, 0 if kind == "cancelled" else 1)


def _anew(row: Past, ruling: Ruling, past: _Call) -> _Call:
    """Return a call that was made as the new policy would make it."""
    usage = _usage(row)
    capped = _capped(usage, ruling.ceiling)
    if row.provider == CACHE:
        price = ruling.price
        cost = past.cost if price is None else cost_of(usage, price).nanos
        return replace(past, held=cost, cost=cost, estimated=True, unpriced=price is None)
    if not ruling.known:
        return replace(past, estimated=True, unpriced=True)
    held = _grown(past.held, ruling.hold)
    if row.kind == "expired":
        return replace(past, held=held, cost=held)
    if ruling.price is None and capped == usage:
        return past
    if ruling.price is None:
        # The same price per token: the part of the cost that the shorter answer leaves.
        cost = past.cost * capped.total // (usage.total or 1)
        return replace(past, cost=cost, tokens=capped.total, estimated=True)
    estimated = ruling.model != row.model or capped != usage
    cost = cost_of(capped, ruling.price).nanos
    return _Call(held, cost, capped.total, past.duration_ms, past.requests, estimated)


def _total(row: Past) -> int:
    return sum([tokens for tokens in row[TOKENS] if tokens])


def _usage(row: Past) -> Usage:
    return Usage(row.fresh_input or 0, row.cache_read or 0, row.cache_write or 0, row.output or 0, row.reasoning or 0)


def _capped(usage: Usage, ceiling: int | None) -> Usage:
    if ceiling is None or usage.output_tokens <= ceiling:
        return usage
    return replace(usage, output=max(0, ceiling - usage.reasoning), reasoning=min(usage.reasoning, ceiling))


def _grown(held: int, ratio: tuple[int, int]) -> int:
    return -(-held * ratio[0] // ratio[1])
