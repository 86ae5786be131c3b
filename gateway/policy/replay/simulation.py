"""Past traffic under another policy: in order of arrival, by the real rules."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final

from gateway.policy.replay.calls import anew, as_recorded, imagined
from gateway.policy.replay.limits import REPEATS, add, diverge, first_over, have_diverged
from gateway.policy.replay.outcomes import Move, Obstacle, TeamOutcome
from gateway.policy.replay.regime import CACHE, GIVEN_AGAIN
from governance.ledger.events import EventKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gateway.policy.replay.calls import Call
    from gateway.policy.replay.likely import LikelyCalls
    from gateway.policy.replay.limits import Amounts, Drawn, Limits
    from gateway.policy.replay.rulings import Ruling, Rulings
    from governance.ledger.reading.traffic import Past

_REFUSED: Final = EventKind.REFUSED.value


class Simulation:
    """Runs requests through a policy one after another.

    Args:
        rulings: What the policy makes of each kind of request.
        likely: What calls would have been like that were never made.
    """

    def __init__(self, rulings: Rulings, likely: LikelyCalls) -> None:
        self.teams: dict[str, TeamOutcome] = {}
        self._rulings = rulings
        self._likely = likely
        self._open: list[tuple[int, int, Sequence[Drawn], Amounts]] = []
        self._made = 0

    def run(self, rows: Iterable[Past]) -> None:
        """Run requests that arrived after those before."""
        for row in rows:
            if self._open and self._open[0][0] <= row.at:
                self._end(row.at)
            self._take(row)

    def _take(self, row: Past) -> None:
        ruling, refused = self._rulings.of(row), row.kind == _REFUSED
        outcome = self.teams.get(row.team)
        if outcome is None:
            outcome = self.teams[row.team] = TeamOutcome()
        outcome.requests += 1
        outcome.recorded += row.cost_nanos
        if row.route == GIVEN_AGAIN:
            return  # free, and drawn on nothing, under any policy
        drawn = ruling.limits.drawn(row, ruling.answer(0).model if refused else row.model)
        if row.provider == CACHE:
            drawn = _repetitions(drawn)
        if ruling.same and not have_diverged(drawn):
            # As it was: let through or refused by the same rules in the same state.
            outcome.replayed += row.cost_nanos
            if not refused:
                self._make(row.at, as_recorded(row), drawn)
        elif refused:
            self._reconsider(row, ruling, outcome)
        elif row.provider == CACHE and row.cache.partition(";")[0] in ruling.cached:
            self._give_again(row, drawn, outcome)
        else:
            self._decide(row, ruling, drawn, outcome)

    def _decide(self, row: Past, ruling: Ruling, before: Sequence[Drawn], outcome: TeamOutcome) -> None:
        """Decide anew about a request that was let through and drew on what `before` says."""
        pressure = ruling.limits.pressure(row)
        answer = ruling.answer(pressure.downgrade)
        past = as_recorded(row)
        call = anew(row, answer, ruling.tight_ceiling if pressure.tighten else ruling.ceiling, past)
        as_before = answer.model == row.model and row.provider != CACHE
        drawn = before if as_before else ruling.limits.drawn(row, answer.model)
        obstacle = Obstacle(answer.code) if answer.code else _obstacle(row, call, ruling.limits, drawn)
        if obstacle is not None:
            diverge(before)
            outcome.stop(obstacle, call.cost)
            return
        outcome.let_through(call.cost, estimated=call.estimated, unpriced=call.unpriced)
        outcome.tightened += pressure.tighten and not ruling.was_tightened
        if answer.model != row.model:
            outcome.move(Move(row.model, answer.model, answer.reason), zone_changed=answer.zone_changed)
        if call != past or answer.model != row.model:
            diverge(before)
            diverge(drawn)
        self._make(row.at, call, drawn)

    def _give_again(self, row: Past, drawn: Sequence[Drawn], outcome: TeamOutcome) -> None:
        """Decide anew whether an answer from the cache is one repetition too many."""
        call = as_recorded(row)
        limit = first_over(drawn, call.most)
        if limit is None:
            self._make(row.at, call, drawn)
        else:
            diverge(drawn)
            outcome.stop(Obstacle(limit.why), 0)

    def _reconsider(self, row: Past, ruling: Ruling, outcome: TeamOutcome) -> None:
        """Decide anew about a request that was refused."""
        if row.code not in ruling.undone:
            return
        pressure = ruling.limits.pressure(row)
        answer = ruling.answer(pressure.downgrade)
        if answer.code:
            return
        price = answer.price or self._rulings.recorded.get(answer.model)
        likely = self._likely.of(row.team, row.app, answer.model)
        call = imagined(likely, price, answer, ruling.tight_ceiling if pressure.tighten else ruling.ceiling)
        drawn = ruling.limits.drawn(row, answer.model)
        if _obstacle(row, call, ruling.limits, drawn) is None:
            outcome.admitted += 1
            outcome.let_through(call.cost, estimated=True, unpriced=call.unpriced)
            diverge(drawn)
            self._make(row.at, call, drawn)

    def _make(self, at: int, call: Call, drawn: Sequence[Drawn]) -> None:
        """Hold what a call may need, until it ends."""
        if drawn:
            add(drawn, call.most)
            self._made += 1
            heappush(self._open, (at + round(call.duration_ms * 1000), self._made, drawn, call.rest))

    def _end(self, at: int) -> None:
        """End every call that was over by now, in the order of their ends."""
        while self._open and self._open[0][0] <= at:
            _, _, drawn, rest = heappop(self._open)
            add(drawn, rest)


def _obstacle(row: Past, call: Call, limits: Limits, drawn: Sequence[Drawn]) -> Obstacle | None:
    """Say what stands in the way of a call, by the gateway's order: limits on single requests, then the others."""
    alone = limits.over_alone(row, call.held)
    if alone:
        return Obstacle(alone)
    limit = first_over(drawn, call.most)
    return None if limit is None else Obstacle(limit.why, queues=limit.queues)


def _repetitions(drawn: Sequence[Drawn]) -> Sequence[Drawn]:
    """Return what a request draws on that a cache answers: it costs nothing, and yet may be a loop."""
    return [one for one in drawn if one[1] == REPEATS]
