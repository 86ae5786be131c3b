"""The path of one chat completion, top to bottom, in the order of governance. Read this file first.

Each step needs what the step before it made: an `Entitled` needs a key that opens, a `Wish` a grant that allows it, a
`Purchase` a route with a price, a `Hold` a purchase. A step that is left out does not type-check.
"""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final
from zoneinfo import ZoneInfo

import anyio
import msgspec

from cache.answers import AnswerCache
from cache.config import ExactSection
from cache.stores import Stored
from gateway.accounts import Accounts, Bought
from gateway.admission import Admission, Asked, Entitled
from gateway.catalogue import Catalogue, Model
from gateway.errors import UpstreamTimeout
from gateway.estimate import most_prompt_tokens
from gateway.metering import Meter
from gateway.providers.upstream import Leave, Upstream
from gateway.shaping import Shaped, shape
from gateway.slot import Slot, slot_of
from gateway.wire.chat_body import ChatFields
from gateway.wire.headers import Facts, facts_of
from gateway.wire.reply import Reply
from gateway.wire.unfold import unfold, usage_chunk
from governance.ledger.events import Settlement
from governance.limits import Standing
from governance.money import Nanodollars
from governance.prices import Price, worst_case
from governance.purse import Hold, Purse, WorstCase
from router_models.errors import NothingAvailable
from router_models.router import Route

TOTAL_S: Final = 600.0
"""The longest an answer may take when the caller sets no limit of its own."""

DRAIN_S: Final = 30.0
"""How long a provider that is read to its end may take for it after the client has left."""

_KEPT_ENDINGS: Final = frozenset({"stop", "length", "tool_calls", "function_call"})


@dataclass(frozen=True, slots=True)
class Purchase:
    """A call about to be paid for: who is called, why, at what price, with what, and the most it can cost."""

    model: Model
    upstream: Upstream
    route: Route
    price: Price
    body: dict[str, Any]
    worst: WorstCase


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatService:
    """Answers chat completions. `ticks` is a monotonic clock in seconds."""

    admission: Admission
    catalogue: Catalogue
    answers: AnswerCache
    exact: ExactSection | None
    purse: Purse
    accounts: Accounts
    timezone: ZoneInfo
    policy_version: str
    ticks: Callable[[], float]

    async def answer(self, asked: Asked[ChatFields], reply: Reply) -> None:
        """Answer one request.

        Whatever raises before the first piece has gone out becomes an HTTP status; after it, an error event.
        """
        entitled = self.admission.admit(asked.credential, asked.offered, asked.at)
        async with AsyncExitStack() as stack:
            with self.admission.refusals_recorded(asked, entitled):
                wish = self.catalogue.wish(asked.model, "chat", entitled.grant)
                shaped = shape(asked.body, asked.fields, entitled.grant.output, entitled.attribution)
                slot = slot_of(asked, entitled, wish, shaped.body | {"max_tokens": shaped.max_tokens}, self.exact)
                stored = await self.answers.find(slot.key, slot.directives)
                if stored is not None:
                    return await self._replay(asked, entitled, stored, reply)
                route = self.catalogue.choose(wish, entitled.grant, asked.controls.zone)
                purchase = self._purchase(asked, entitled, shaped, route)
                hold = await stack.enter_async_context(self._hold(asked, entitled, purchase, slot))
            await self._buy(asked, purchase, hold, slot, reply)
        return None

    async def _replay(self, asked: Asked[ChatFields], entitled: Entitled, stored: Stored, reply: Reply) -> None:
        """Give an answer we have already paid for, in the form this caller asked for."""
        opening = self.admission.opening(asked, entitled, model=stored.model, route="cache", cache="exact")
        settlement = self.accounts.hit(stored.usage, Nanodollars(stored.cost_nanos))
        standings = await self.purse.standing(entitled.grant.budgets, asked.at, self.timezone)
        self.purse.free(opening, settlement)
        self.accounts.settled(opening, settlement)
        facts = facts_of(
            opening, settlement, min(standings, key=_remaining, default=None), (), self.ticks() - asked.tick
        )
        completion = msgspec.json.decode(stored.body)
        await reply.begin(facts)
        for chunk in unfold(completion) if asked.stream else ():
            await reply.piece(msgspec.json.encode(chunk))
        await self._finish(asked, completion, settlement, facts, reply)

    def _purchase(self, asked: Asked[ChatFields], entitled: Entitled, shaped: Shaped, route: Route) -> Purchase:
        model = self.catalogue.models[route.model]
        upstream, price = self.catalogue.upstream(model), self.catalogue.price(model)
        if price is None:  # it was known a moment ago, when the route was chosen
            raise NothingAvailable(route=route.name, models=(route.model,))
        prompt = most_prompt_tokens(asked.size, shaped.body["messages"])
        worst = WorstCase(worst_case(prompt, shaped.most_output, price), prompt + shaped.most_output)
        tenant = f"{entitled.caller.team}/{entitled.caller.app}"
        body = upstream.bound(shaped.body | {"model": model.upstream_model}, shaped.max_tokens, tenant)
        return Purchase(model, upstream, route, price, body, worst)

    def _hold(self, asked: Asked[ChatFields], entitled: Entitled, purchase: Purchase, slot: Slot) -> Hold:
        opening = self.admission.opening(
            asked,
            entitled,
            model=purchase.model.name,
            provider=purchase.model.provider,
            route=purchase.route.reason,
            cache=slot.outcome,
        )
        return self.purse.hold(
            opening,
            entitled.grant.budgets,
            entitled.grant.rates,
            purchase.worst,
            tz=self.timezone,
            lease_s=(asked.controls.timeout_s or TOTAL_S) + 2 * DRAIN_S,
        )

    async def _buy(self, asked: Asked[ChatFields], purchase: Purchase, hold: Hold, slot: Slot, reply: Reply) -> None:
        """Call the model, pass its answer on, and settle for what it used, however it ends."""
        meter, called_at, error = Meter(asked.size), self.ticks(), None
        await reply.begin(facts_of(hold.opening, None, hold.tightest, hold.rates, called_at - asked.tick))
        try:
            await self._relay(asked, purchase, meter, reply)
        except BaseException as failure:
            error = failure
            raise
        finally:
            upstream_s = self.ticks() - called_at
            settlement = self.accounts.settlement(
                Bought(
                    model=purchase.model,
                    price=purchase.price,
                    purpose="answer",
                    at=asked.at,
                    seconds=upstream_s,
                    usage=meter.usage,
                    estimated=meter.estimated,
                    error=error,
                    left=reply.departure.happened,
                    first_token_s=None if meter.first_at is None else meter.first_at - asked.tick,
                )
            )
            await hold.settle(settlement)
            self.accounts.settled(hold.opening, settlement)
        if not meter.complete:
            return  # the client left and the call was stopped
        completion = meter.completion()
        await self._keep(asked, completion, purchase.model, settlement, slot)
        overhead_s = self.ticks() - asked.tick - upstream_s
        facts = facts_of(hold.opening, settlement, hold.tightest, hold.rates, overhead_s)
        await self._finish(asked, completion, settlement, facts, reply)

    async def _relay(self, asked: Asked[ChatFields], purchase: Purchase, meter: Meter, reply: Reply) -> None:
        """Pass chunks on as they come; when the client leaves, stop or read on as the provider's kind has it."""
        limit_s = asked.controls.timeout_s or TOTAL_S
        with anyio.CancelScope(deadline=anyio.current_time() + limit_s) as scope:
            reply.departure.then(partial(_leave, scope, purchase.upstream.leave))
            async with purchase.upstream.stream(purchase.body, asked.request_id) as chunks:
                async for chunk in chunks:
                    piece = meter.see(chunk, self.ticks())
                    if piece is not None and not reply.departure.happened:
                        await reply.piece(piece)
            meter.check_complete(purchase.upstream.name)
        if scope.cancelled_caught and not reply.departure.happened:
            raise UpstreamTimeout(f"The answer was not complete within {limit_s:g} s.", purchase.upstream.name)

    async def _keep(
        self, asked: Asked[ChatFields], completion: dict[str, Any], model: Model, settlement: Settlement, slot: Slot
    ) -> None:
        """Keep a complete answer for the next one who asks the same."""
        if slot.ttl and settlement.usage is not None and _endings(completion) <= _KEPT_ENDINGS:
            body, usage = msgspec.json.encode(completion), asdict(settlement.usage)
            kept = Stored(body, model.name, settlement.cost.nanos, usage, asked.at.timestamp())
            await self.answers.put(slot.key, kept, slot.ttl)

    async def _finish(
        self,
        asked: Asked[ChatFields],
        completion: dict[str, Any],
        settlement: Settlement,
        facts: Facts,
        reply: Reply,
    ) -> None:
        """End the answer; a stream that shows usage shows what it cost as well."""
        if reply.departure.happened:
            return
        if _shows_usage(asked):
            money = {"cost_usd": settlement.cost.usd, "saved_usd": settlement.saved.usd}
            await reply.piece(msgspec.json.encode(usage_chunk(completion, money)))
        await reply.finish(completion, facts)


def _leave(scope: anyio.CancelScope, rule: Leave) -> None:
    if rule == "cancel":
        scope.cancel()
    else:
        scope.deadline = min(scope.deadline, anyio.current_time() + DRAIN_S)


def _shows_usage(asked: Asked[ChatFields]) -> bool:
    return asked.fields.stream_options is not None and asked.fields.stream_options.include_usage


def _endings(completion: dict[str, Any]) -> set[object]:
    return {choice.get("finish_reason") for choice in completion["choices"]}


def _remaining(standing: Standing) -> Nanodollars:
    return standing.remaining
