"""The path of one chat completion, top to bottom, in the order of governance. Read this file first.

Each step needs what the step before it made: an `Asked` needs a caller whose key opened (`endpoints/edge.py`), an
`Entitled` the caller, a `Wish` a grant that allows it, a `Purchase` a route with a price, a `Hold` a purchase: to
spend money without any of these does not type-check.
"""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from gateway.catalogue import Catalogue
from gateway.counting.tally import Prompt
from gateway.policy.reliability import Timeouts
from gateway.providers.upstream import Call, Wanted
from gateway.steps.accounts import Bought
from gateway.steps.admission import Admission, Asked, Entitled
from gateway.steps.brake import Brake
from gateway.steps.budget_steps import lasting, tightened
from gateway.steps.classes import classes_of
from gateway.steps.idempotency import OnceOnly
from gateway.steps.metering import Meter
from gateway.steps.purchasing import Purchase, Purchasing
from gateway.steps.relaying import relay
from gateway.steps.shaping import Shaped, shape
from gateway.steps.slot import ExactCache, Slot
from gateway.wire.headers import Facts
from gateway.wire.reply import Reply
from gateway.wire.request.chat_body import ChatFields
from governance.purse import Hold

TOTAL_S: Final = 600.0
"""The longest an answer may take when the caller sets no limit of its own."""

_KEPT_ENDINGS: Final = frozenset({"stop", "length", "tool_calls", "function_call"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatService:
    """Answers chats, in whatever dialect they are asked. `ticks` is a monotonic clock in seconds."""

    admission: Admission
    once: OnceOnly
    catalogue: Catalogue
    exact: ExactCache
    purchasing: Purchasing
    ticks: Callable[[], float]

    async def answer(self, asked: Asked[ChatFields], reply: Reply) -> None:
        """Answer one request.

        Whatever raises before the first piece has gone out becomes an HTTP status; after it, an error event.
        """
        entitled = self.admission.entitle(asked.caller, asked.offered)
        async with AsyncExitStack() as stack:
            with self.admission.refusals_recorded(asked, entitled):
                wish = self.catalogue.wish(asked.model, "chat", entitled.grant)
                asked, turn = await self.once.turn(asked, stack, lambda: reply.departure.happened)
                if turn.answer is not None:
                    facts = self.purchasing.again(asked, entitled, turn.answer.model, self.ticks() - asked.tick)
                    return await _tell(turn.answer.body, facts, reply)
                reply = turn.keeping(reply)
                pressure = await self.purchasing.pressure(asked, entitled)
                shaped = shape(asked.body, asked.fields, entitled.grant.output, entitled.attribution)
                slot, stored = await self.exact.find(
                    asked, entitled, wish, shaped.fingerprinted, any_age=pressure.tighten
                )
                repeats = self.purchasing.repeats(asked, entitled, slot, shaped.fingerprinted)
                if stored is not None:
                    overhead_s = self.ticks() - asked.tick
                    facts = await self.purchasing.take(asked, entitled, stored, repeats, overhead_s)
                    return await _tell(stored.body, facts, reply)
                if pressure.tighten:
                    rule = tightened(entitled.grant.output)
                    shaped = shape(asked.body, asked.fields, rule, entitled.attribution)
                downgrade = 0 if asked.pinned else pressure.downgrade
                route = self.catalogue.choose(wish, entitled.grant, asked.controls.zone, downgrade)
                prompt, classes = Prompt(shaped.body, asked.size), classes_of(shaped.body)
                purchase = self.purchasing.price(route, prompt, shaped.most_output, classes, asked.carrier)
                wanted = _said(purchase, shaped, entitled, asked)
                held = self.purchasing.hold(asked, entitled, purchase, slot.outcome, pressure, repeats)
                hold = await stack.enter_async_context(held)
            await self._buy(asked, shaped, purchase, wanted, hold, lasting(slot, route, pressure), reply)
        return None

    async def _buy(
        self,
        asked: Asked[ChatFields],
        shaped: Shaped,
        purchase: Purchase,
        wanted: Wanted,
        hold: Hold,
        slot: Slot,
        reply: Reply,
    ) -> None:
        """Call the model, pass its answer on, and settle for what it used, however it ends."""
        if reply.departure.happened:  # before anything was asked of anyone: the hold is given back
            return self.purchasing.accounts.given_up(hold.opening)
        meter, called_at, error = Meter(purchase.tally, shaped.most_output), self.ticks(), None
        await reply.begin(Facts(hold.opening, None, hold.tightest, hold.rates, called_at - asked.tick))
        try:
            brake, limit_s = Brake(hold, purchase.price), purchase.limit_s or asked.limit_s
            await relay(
                purchase.upstream,
                wanted,
                asked.request_id,
                meter,
                brake,
                reply,
                timeouts=_waits(asked, purchase, limit_s),
                limit_s=limit_s,
                ticks=self.ticks,
            )
        except BaseException as failure:
            error = failure
            raise
        finally:
            upstream_s = self.ticks() - called_at
            begun = meter.first_at is not None or purchase.may_be_billed(error)
            bought = Bought(
                model=purchase.model,
                price=self.catalogue.price_served(purchase.model, meter.service, purchase.price),
                purpose="answer",
                at=asked.at,
                seconds=upstream_s,
                usage=meter.reported or (meter.guess if begun else None),
                estimated=begun and meter.reported is None,
                error=error,
                left=reply.departure.happened,
                first_token_s=None if meter.first_at is None else meter.first_at - asked.tick,
            )
            settlement = await self.purchasing.settle(hold, bought)
        if not meter.complete:
            return None  # the client left and the call was stopped
        completion = meter.completion()
        if _may_be_kept(completion, slot):
            await self.exact.keep(asked, slot, purchase.model.name, settlement, completion)
        overhead_s = self.ticks() - asked.tick - upstream_s
        facts = Facts(hold.opening, settlement, hold.tightest, hold.rates, overhead_s)
        self.purchasing.accounts.answered(facts)
        await reply.finish(completion, facts)
        return purchase.tally.learn(meter.reported)


async def _tell(body: bytes, facts: Facts, reply: Reply) -> None:
    """Give an answer that was paid for before, in the form this caller asked for."""
    completion = msgspec.json.decode(body)
    await reply.begin(facts)
    await reply.told(completion)
    await reply.finish(completion, facts)


def _said(purchase: Purchase, shaped: Shaped, entitled: Entitled, asked: Asked[ChatFields]) -> Wanted:
    """Say a request in the words of the provider that is to answer it, before anything is held for it."""
    owner = entitled.attribution
    body = shaped.body | {"model": purchase.model.upstream_model}
    call = Call(
        body=body,
        max_tokens=shaped.max_tokens,
        tenant=f"{owner.team}/{owner.app}",
        spoken=asked.dialect,
        idle=asked.deferred,
    )
    return purchase.upstream.write(call)


def _waits(asked: Asked[ChatFields], purchase: Purchase, limit_s: float) -> Timeouts:
    """Return how long the provider is waited for; on our own machines deferred work may have to stand still."""
    timeouts = purchase.upstream.timeouts
    stands = asked.deferred and not purchase.upstream.sells
    return replace(timeouts, first_token_s=limit_s, idle_s=limit_s) if stands else timeouts


def _may_be_kept(completion: dict[str, Any], slot: Slot) -> bool:
    """Say whether every choice ended in a way that would be the same for the next one who asks."""
    endings = [choice.get("finish_reason") for choice in completion["choices"]]
    kept = _KEPT_ENDINGS - {"length"} if slot.whole or "sluice" in completion else _KEPT_ENDINGS
    return all(isinstance(ending, str) and ending in kept for ending in endings)
