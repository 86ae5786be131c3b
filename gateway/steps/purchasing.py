"""Buy an answer: price the worst case, hold it, settle it; or take one for free that was bought before.

Every endpoint that can cost money goes through here, so that none can forget a step.
"""

import asyncio
from collections.abc import Collection, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Final
from zoneinfo import ZoneInfo

from cache.canonical import fingerprint
from cache.stores import Stored
from gateway.catalogue import Catalogue, Model
from gateway.counting.tally import Counting, Prompt, Tally
from gateway.errors import UpstreamError, UpstreamUnreached
from gateway.providers.batching import Carrier
from gateway.providers.upstream import StillOut, Upstream
from gateway.steps.accounts import Accounts, Bought
from gateway.steps.admission import Admission, Asked, Entitled
from gateway.steps.budget_steps import noted
from gateway.steps.reuse.slot import Slot
from gateway.wire.headers import Facts
from governance.ledger.events import Opening, Settlement
from governance.limits import Standing, resolve
from governance.limits.loops import LoopGuard, Repeats
from governance.limits.steps import Pressure
from governance.money import ZERO, Nanodollars
from governance.prices import TEXT, Price, worst_case
from governance.purse import Hold, Purse, WorstCase
from router_models.errors import NothingAvailable
from router_models.router import Route

LEASE_SLACK_S: Final = 60.0
"""What a hold outlives its request by: time to drain an upstream whose client has left, and to settle."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """A call about to be paid for: who is called, why, at what price, the most it can cost, and its tokens so far."""

    model: Model
    upstream: Upstream
    route: Route
    price: Price
    worst: WorstCase
    tally: Tally

    def may_be_billed(self, error: BaseException | None) -> bool:
        """Say whether a call that told no usage may be billed all the same.

        On our own machines a stopped call stops its cost. Sellers bill what they computed, whether or not it arrived,
        unless they refused the call or never saw it.
        """
        refused = isinstance(error, UpstreamError) and error.status is not None
        return self.upstream.sells and not refused and not isinstance(error, UpstreamUnreached)


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchasing:
    """The gateway's purse, with the catalogue's prices."""

    admission: Admission
    catalogue: Catalogue
    counting: Counting
    purse: Purse
    accounts: Accounts
    timezone: ZoneInfo
    loops: LoopGuard

    async def pressure(self, asked: Asked[object], entitled: Entitled) -> Pressure:
        """Return what the request's budgets ask of it, from where they stand before it."""
        return await self.purse.pressure(entitled.grant.budgets, asked.at, self.timezone)

    def repeats(
        self, asked: Asked[object], entitled: Entitled, slot: Slot, body: dict[str, Any]
    ) -> tuple[Repeats, ...]:
        """Return what the request is counted on as a repetition.

        Raises:
            TooDeep: it is nested too deep to be told from others.
        """
        key = slot.key
        if not key and self.loops.wants_fingerprints:
            key = fingerprint(body, partition="", model_class=asked.model, endpoint=asked.endpoint)
        return self.loops.repeats(entitled.caller.key_id, key, entitled.attribution.session)

    def price(
        self,
        route: Route,
        prompt: Prompt,
        most_output: int,
        classes: Collection[str] = TEXT,
        carrier: Carrier | None = None,
    ) -> Purchase:
        """Return the purchase of an answer over `route`, at the price of this instant.

        Args:
            route: Who answers.
            prompt: What it is asked.
            most_output: The most tokens it can make.
            classes: The classes of `Usage` that it may use.
            carrier: May carry the call, at the price of a batch.

        Raises:
            NothingAvailable: the provider stopped measuring its price since the route was chosen.
        """
        model = self.catalogue.models[route.model]
        price = self.catalogue.price(model)
        if price is None:
            raise NothingAvailable(route=route.name, models=(route.model,))
        upstream = self.catalogue.upstream(model)
        carried = None if carrier is None else carrier.upstream(upstream, model.name, model.upstream_model)
        price = price if carried is None else self.catalogue.price(model, "batch") or price
        tally = self.counting.tally(model, prompt)
        held = tally.held
        worst = WorstCase(worst_case(held, most_output, price, classes), held + most_output)
        return Purchase(model, carried or upstream, route, price, worst, tally)

    def hold(
        self,
        asked: Asked[object],
        entitled: Entitled,
        purchase: Purchase,
        cache: str,
        pressure: Pressure,
        repeats: tuple[Repeats, ...],
    ) -> Hold:
        """Return the hold of a purchase, to be entered; see `Purse.hold` for what it raises."""
        return self.purse.hold(
            self._opening(asked, entitled, purchase, cache, pressure),
            resolve(entitled.grant.budgets, {"model": purchase.model.name}),
            entitled.grant.rates,
            purchase.worst,
            tz=self.timezone,
            lease_s=asked.limit_s + LEASE_SLACK_S,
            repeats=repeats,
        )

    async def hold_again(
        self,
        hold: Hold,
        asked: Asked[object],
        entitled: Entitled,
        purchase: Purchase,
        cache: str,
        pressure: Pressure,
        made: Sequence[Bought],
        beside: Purchase | None = None,
    ) -> None:
        """Hold another purchase for a request beside what its calls so far came to; see `Purse.hold_again`.

        With one `beside` it, both are held for, under the budgets of both.
        """
        both = [purchase] if beside is None else [purchase, beside]
        budgets = [b for one in both for b in resolve(entitled.grant.budgets, {"model": one.model.name})]
        cost = sum((one.worst.cost for one in both), ZERO)
        await self.purse.hold_again(
            hold,
            self._opening(asked, entitled, purchase, cache, pressure),
            tuple(dict.fromkeys(budgets)),
            WorstCase(cost, sum(one.worst.tokens for one in both)),
            [self.accounts.attempt(bought) for bought in made],
            tz=self.timezone,
        )

    def _opening(
        self, asked: Asked[object], entitled: Entitled, purchase: Purchase, cache: str, pressure: Pressure
    ) -> Opening:
        model, route = purchase.model, noted(purchase.route, pressure)
        return self.admission.opening(
            asked,
            entitled,
            model=model.name,
            provider=model.provider,
            route=route,
            cache=cache,
            context=purchase.tally.prompt.spared.note,
        )

    async def settle(self, hold: Hold, made: Sequence[Bought], error: BaseException | None) -> Settlement:
        """End a hold at what the calls made under it really came to, whatever ends the request meanwhile.

        One whose call is still out stays open.
        """
        settlement = self.accounts.settlement(made, error)
        if isinstance(error, StillOut):
            hold.leave()
            return settlement
        await _unbroken(hold.settle(settlement))
        if settlement.cost > hold.worst.cost:
            self.accounts.overshot(hold.opening, settlement.cost - hold.worst.cost)
        self.accounts.settled(hold.opening, settlement)
        return settlement

    async def take(
        self,
        asked: Asked[object],
        entitled: Entitled,
        stored: Stored,
        repeats: tuple[Repeats, ...],
        overhead_s: float,
        cache: str,
    ) -> Facts:
        """Record that a stored answer is given again: free, and sparing what it once cost.

        `cache` says which cache had it.

        Raises:
            LoopDetected: it has been given to this key too often.
        """
        opening = self.admission.opening(
            asked, entitled, model=stored.model, provider="cache", route="cache", cache=cache
        )
        await self.purse.repeat(opening, repeats, self.timezone)
        settlement = self.accounts.hit(stored.usage, Nanodollars(stored.cost_nanos))
        budgets = resolve(entitled.grant.budgets, {"model": stored.model})
        blocking = [budget for budget in budgets if budget.blocks_at is not None]
        standings = await self.purse.standing(blocking or budgets, asked.at, self.timezone)
        tightest = min(standings, key=_remaining, default=None)
        age_s = asked.at.timestamp() - stored.created
        return self._given(Facts(opening, settlement, tightest, (), overhead_s, age_s=age_s), settlement)

    def again(self, asked: Asked[object], entitled: Entitled, model: str, overhead_s: float) -> Facts:
        """Record that the answer of an idempotency key is given again: free, and sparing nothing, for it is the same.

        Raises:
            LedgerBehind: the ledger takes no new requests.
        """
        opening = self.admission.opening(
            asked, entitled, model=model, provider="cache", route="idempotent", cache="idempotent"
        )
        settlement = Settlement(outcome="ok", status=200)
        return self._given(Facts(opening, settlement, None, (), overhead_s), settlement)

    def _given(self, facts: Facts, settlement: Settlement) -> Facts:
        self.purse.free(facts.opening, settlement)
        self.accounts.settled(facts.opening, settlement)
        self.accounts.answered(facts)
        return facts


async def _unbroken(work: Coroutine[Any, Any, None]) -> None:
    """Do `work` to its end; whoever cancels it is obeyed after that."""
    task, cancelled = asyncio.ensure_future(work), None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as asked:
            cancelled = asked
    task.result()
    if cancelled is not None:
        raise cancelled


def _remaining(standing: Standing) -> Nanodollars:
    return standing.remaining
