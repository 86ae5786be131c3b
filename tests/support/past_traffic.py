"""Traffic of the past: requests that a real purse let through or refused under a policy, on a clock of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from gateway import catalogue
from gateway.policy.replay.lanes import Board
from gateway.policy.replay.likely import LikelyCalls
from gateway.policy.replay.rulings import Rulings
from gateway.policy.replay.simulation import Simulation
from gateway.providers.absent import AbsentUpstream
from gateway.steps.budget_steps import noted, tightened
from gateway.wire.errors import shape_of
from governance.attribution import UNATTRIBUTED, Attribution
from governance.confinement.confined import UNCONFINED
from governance.counters.memory import MemoryCounters
from governance.errors import BudgetExhausted, LoopDetected, RateLimited
from governance.identity import UNNARROWED, KeyTerms
from governance.ledger.events import Attempt, EventKind, LedgerEvent, Opening, Settlement
from governance.ledger.reading import traffic
from governance.ledger.rows import event_row
from governance.limits import WorstCase, resolve
from governance.limits.loops import LoopGuard
from governance.prices import Usage, cost_of, worst_case
from governance.purse import Purse
from router_models.errors import NoRoute
from tests.support.ledgers import RecordingLedger
from tests.support.requests import NOON

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from zoneinfo import ZoneInfo

    from gateway.policy.replay.outcomes import TeamOutcome
    from gateway.policy.source import LoadedPolicy
    from governance.prices import Price
    from governance.purse import Hold

Rows = list[traffic.Past]


@dataclass(frozen=True, slots=True)
class Past:
    """One request: how many seconds after the one before, who, what it asks for, its tokens and how long it took.

    Attributes:
        route: Why its model answers, as the ledger has it; None where the gateway's own catalogue is to choose.
        text: What tells it from others; empty when nothing does.
    """

    gap_s: float
    team: str
    app: str
    model: str
    prompt: int
    output: int
    room: int
    seconds: float
    route: str | None = None
    feature: str = UNATTRIBUTED
    session: str = UNATTRIBUTED
    user: str | None = None
    key_id: str = "k1"
    text: str = ""


@dataclass
class Recorder:
    """Takes requests one after another, as a gateway would under a policy, and keeps its ledger."""

    policy: LoadedPolicy
    prices: dict[str, Price]
    at: datetime = NOON
    ledger: RecordingLedger = field(default_factory=RecordingLedger)
    keys: dict[str, KeyTerms] = field(default_factory=dict[str, KeyTerms])
    _open: list[tuple[float, int, Hold, Settlement]] = field(default_factory=list[Any])
    _clock: float = 0.0
    _taken: int = 0

    async def record(self, requests: Iterable[Past]) -> None:
        """Let requests through or refuse them, in order, ending others when their time has come."""
        purse = Purse(MemoryCounters(), self.ledger, lambda: self._clock)
        offers, loops = _offers(self.policy), LoopGuard(self.policy.rules.loop)
        for past in requests:
            self.at += timedelta(seconds=past.gap_s)
            await self._end(self.at.timestamp())
            self._clock = self.at.timestamp()
            self._taken += 1
            await self._take(purse, offers, loops, past)
        await self._end(float("inf"))

    async def _take(self, purse: Purse, offers: catalogue.Catalogue, loops: LoopGuard, past: Past) -> None:
        """Take the steps of `gateway/chat.py` that have to do with limits, in their order."""
        who, tz = Attribution(past.team, past.app, past.feature, session=past.session, user=past.user), self._tz
        grant = self.policy.rules.grant(who, past.key_id).narrowed(self.keys.get(past.key_id, UNNARROWED))
        try:
            wish = offers.wish(past.model, "chat", grant)
            pressure = await purse.pressure(grant.budgets, self.at, tz)
            repeats = loops.repeats(past.key_id, past.text.encode(), past.session)
            rule = tightened(grant.output) if pressure.tighten else grant.output
            most = past.output + past.room if rule.ceiling is None else min(past.output + past.room, rule.ceiling)
            route = offers.choose(wish, grant, UNCONFINED, pressure.downgrade)
            price = self.prices[route.model]
            opening = self._opening(past, who, route.model, past.route or noted(route, pressure))
            worst = WorstCase(worst_case(past.prompt, most, price), past.prompt + most)
            budgets = resolve(grant.budgets, {"model": route.model})
            hold = purse.hold(opening, budgets, grant.rates, worst, tz=tz, lease_s=1e6, repeats=repeats)
            await hold.__aenter__()
        except (BudgetExhausted, RateLimited, LoopDetected, NoRoute) as refusal:
            shape = shape_of(refusal)
            purse.refused(self._opening(past, who, past.model, ""), shape.code, shape.status)
        else:
            end = self.at.timestamp() + past.seconds
            settlement = _settlement(past, route.model, min(past.output, most), price, self.at)
            heappush(self._open, (end, len(self.ledger.entries), hold, settlement))

    @property
    def _tz(self) -> ZoneInfo:
        return self.policy.rules.timezone

    def _opening(self, past: Past, who: Attribution, model: str, route: str) -> Opening:
        return Opening(
            request_id=f"r{self._taken}",
            at=self.at,
            endpoint="chat",
            attribution=who,
            key_id=past.key_id,
            model=model,
            policy_version=self.policy.version,
            provider="engine",
            route=route,
        )

    async def _end(self, now: float) -> None:
        while self._open and self._open[0][0] <= now:
            self._clock, _, hold, settlement = heappop(self._open)
            await hold.settle(settlement)

    def rows(self) -> Rows:
        """Return the terminal events as the ledger would read them back, in order of arrival."""
        ended = [event for event in self.ledger.events if event.kind is not EventKind.HELD]
        return sorted((past_row(event) for event in ended), key=lambda row: row.at)


async def recorded(policy: LoadedPolicy, *past: Past, keys: Mapping[str, KeyTerms] | None = None) -> Rows:
    """Return what the ledger knows of requests that met a policy."""
    recorder = Recorder(policy, dict(policy.prices), keys=dict(keys or {}))
    await recorder.record(past)
    return recorder.rows()


def replayed(
    rows: Rows, new: LoadedPolicy, *known: LoadedPolicy, keys: Mapping[str, KeyTerms] | None = None
) -> dict[str, TeamOutcome]:
    """Run recorded requests through a policy; models are billed as the first policy that is known has it."""
    prices = dict((*known, new)[0].prices)
    board = Board(new.rules.timezone)
    rulings = Rulings(new, {policy.version: policy for policy in known}, prices, keys or {}, board)
    simulation = Simulation(rulings, LikelyCalls([row for row in rows if row.kind == "settled"]))
    simulation.run(rows)
    return simulation.teams


def past_row(event: LedgerEvent) -> traffic.Past:
    """Return an event as a row of traffic."""
    columns: dict[str, Any] = event_row(event)
    return traffic.Past(**{name: columns[name] for name in traffic.Past._fields})


def _offers(policy: LoadedPolicy) -> catalogue.Catalogue:
    """Return the gateway's catalogue of a policy, all of whose providers answer."""
    models = [
        catalogue.Model(one.name, one.provider, one.model, one.tier, one.kind, policy.tariffs.get(one.name))
        for one in policy.document.models
    ]
    upstreams = {name: AbsentUpstream(name, one.zone, "") for name, one in policy.document.providers.items()}
    return catalogue.Catalogue(models, policy.document.routes, upstreams, None)


def _settlement(past: Past, model: str, output: int, price: Price, at: datetime) -> Settlement:
    usage = Usage(fresh_input=past.prompt, output=output)
    attempt = Attempt(
        at=at,
        purpose="answer",
        provider="engine",
        model=model,
        upstream_model=model,
        outcome="ok",
        price=price,
        cost=cost_of(usage, price),
        duration_ms=past.seconds * 1000,
        status=200,
        usage=usage,
    )
    return Settlement(outcome="ok", status=200, attempts=(attempt,), usage=usage)
