"""The path of one chat completion, top to bottom, in the order of governance. Read this file first.

Each step needs what the step before it made: an `Asked` needs a caller whose key opened (`endpoints/edge.py`), an
`Entitled` the caller, a `Wish` a grant that allows it, a `Purchase` a route with a price, a `Hold` a purchase: to
spend money without any of these does not type-check.
"""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import anyio

from gateway.attempts.course import Course, Errand, Persistence, Ready
from gateway.attempts.hedging import Race
from gateway.catalogue import Catalogue
from gateway.context.contexts import Contexts
from gateway.counting.tally import Prompt
from gateway.errors import UpstreamError
from gateway.policy.reliability import Timeouts
from gateway.prefix.prefixing import Prefixed, Prefixing, Untouched
from gateway.providers.upstream import Call
from gateway.steps.admission import Admission, Asked, Entitled
from gateway.steps.brake import Brake
from gateway.steps.budget_steps import lasting, tightened
from gateway.steps.classes import classes_of
from gateway.steps.confining import Confining
from gateway.steps.guarding.answers import GuardedReply
from gateway.steps.guarding.guarding import Guarding
from gateway.steps.metering import Meter
from gateway.steps.purchasing import Purchasing
from gateway.steps.relaying import relay
from gateway.steps.reuse.idempotency import OnceOnly
from gateway.steps.reuse.meaning import Meaning
from gateway.steps.reuse.slot import ExactCache, Slot
from gateway.steps.routing import Routing
from gateway.steps.shaping import Shaped, shape
from gateway.wire.headers import Facts
from gateway.wire.reply import Reply
from gateway.wire.request.chat_body import ChatFields
from governance.purse import Hold
from router_models.router import Route

_KEPT_ENDINGS: Final = frozenset({"stop", "length", "tool_calls", "function_call"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatService:
    """Answers chats, in whatever dialect they are asked. `ticks` is a monotonic clock in seconds."""

    admission: Admission
    confining: Confining
    guarding: Guarding
    once: OnceOnly
    catalogue: Catalogue
    exact: ExactCache
    meaning: Meaning
    routing: Routing
    purchasing: Purchasing
    persistence: Persistence
    prefixing: Prefixing
    contexts: Contexts
    ticks: Callable[[], float]

    async def answer(self, asked: Asked[ChatFields], reply: Reply) -> None:
        """Answer one request.

        Whatever raises before the first piece has gone out becomes an HTTP status; after it, an error event.
        """
        admitted = self.admission.admit(asked.caller, asked.offered)
        async with AsyncExitStack() as stack:
            with self.admission.refusals_recorded(asked, admitted):
                asked, entitled = await self.confining.confine(asked, admitted)
                guarded = await self.guarding.read(asked, entitled)
                wish = self.catalogue.wish(asked.model, "chat", entitled.grant)
                turn = await self.once.turn(asked, stack, lambda: reply.departure.happened)
                asked, guard = guarded.asked, guarded.watching(turn.keeping(guarded.restoring(reply)))
                if turn.answer is not None:
                    completion = guard.stored(turn.answer.body)
                    facts = self.purchasing.again(asked, entitled, turn.answer.model, self.ticks() - asked.tick)
                    return await _tell(completion, facts, guard)
                pressure = await self.purchasing.pressure(asked, entitled)
                weighed = await self.contexts.weigh(asked, entitled, wish)
                shaped = shape(asked.body, asked.fields, entitled.grant.output, entitled.attribution)
                known = weighed.known_by(shaped.fingerprinted)
                slot, stored = await self.exact.find(
                    asked, entitled, wish, known, stack, reply.departure, any_age=pressure.tighten
                )
                if stored is None:
                    slot, stored = await self.meaning.find(asked, entitled, wish, known, slot)
                repeats = self.purchasing.repeats(asked, entitled, slot, known)
                if stored is not None:
                    completion = guard.stored(stored.body)
                    overhead_s = self.ticks() - asked.tick - slot.waited_s
                    facts = await self.purchasing.take(asked, entitled, stored, repeats, overhead_s, slot.hit)
                    self.meaning.served(asked, entitled, slot, stored)
                    return await _tell(completion, facts, guard)
                if pressure.tighten:
                    rule = tightened(entitled.grant.output)
                    shaped = shape(asked.body, asked.fields, rule, entitled.attribution)
                shaped, prompt = await self.contexts.cut(weighed, asked, entitled, wish, shaped)
                downgrade = 0 if asked.pinned else pressure.downgrade
                prefixed = self.prefixing.of(asked, entitled, shaped.body)
                opinion = await self.routing.opinion(asked, entitled, wish, shaped.body, slot)
                route = self.catalogue.choose(
                    wish, entitled.grant, entitled.confined, downgrade, prefixed.leaning, opinion
                )
                prepare = partial(self._prepare, asked, prompt, shaped, entitled, prefixed)
                first = prepare(route)
                held = self.purchasing.hold(asked, entitled, first.purchase, slot.outcome, pressure, repeats)
                hold = await stack.enter_async_context(held)
            errand = Errand(
                asked=asked,
                entitled=entitled,
                wish=wish,
                pressure=pressure,
                cache=slot.outcome,
                prepare=prepare,
                pause=partial(_pause, guard),
            )
            course = Course(self.persistence, errand, first, hold)
            await self._buy(asked, entitled, shaped, course, hold, lasting(slot, route, pressure), guard)
        return None

    def _prepare(
        self,
        asked: Asked[ChatFields],
        prompt: Prompt,
        shaped: Shaped,
        entitled: Entitled,
        prefixed: Prefixed | Untouched,
        route: Route,
    ) -> Ready:
        """Price a route and say the request in the words of its provider, before anything is held for it."""
        classes = classes_of(shaped.body) | prefixed.classes(route.model)
        purchase = self.purchasing.price(route, prompt, shaped.most_output, classes, asked.carrier)
        body, placed = prefixed.prepared(purchase, shaped.body | {"model": purchase.model.upstream_model})
        tenant = f"{entitled.attribution.team}/{entitled.attribution.app}"
        call = Call(
            body=body,
            confined=entitled.confined,
            max_tokens=shaped.max_tokens,
            tenant=tenant,
            spoken=asked.dialect,
            idle=asked.deferred,
        )
        return Ready(purchase, purchase.upstream.write(call), placed)

    async def _buy(
        self,
        asked: Asked[ChatFields],
        entitled: Entitled,
        shaped: Shaped,
        course: Course,
        hold: Hold,
        slot: Slot,
        reply: GuardedReply,
    ) -> None:
        """Call models until one answers, pass its answer on, and settle for what all of them used, however it ends."""
        if reply.departure.happened:  # before anything was asked of anyone: the hold is given back
            return self.purchasing.accounts.given_up(hold.opening)
        called_at, error, completion = self.ticks(), None, None
        try:
            meter = await self._answered(asked, entitled, shaped, course, hold, reply)
            completion = reply.completed(meter.completion()) if meter.complete else None
        except BaseException as failure:
            error = failure
            raise
        finally:
            upstream_s = self.ticks() - called_at
            settlement = await self.purchasing.settle(hold, course.made, error)
            self.contexts.booked(asked, entitled, course.made)
        if completion is None:
            return None  # the client left and the call was stopped
        place = slot if _may_be_kept(completion, slot) else slot.unkept
        await self.exact.keep(asked, entitled, place, hold.opening.model, settlement, completion)
        overhead_s = self.ticks() - asked.tick - slot.waited_s - upstream_s
        facts = Facts(hold.opening, settlement, hold.tightest, hold.rates, overhead_s)
        self.purchasing.accounts.answered(facts)
        await reply.finish(completion, facts)
        self.meaning.learn(asked, entitled, slot, hold.opening.model, settlement, completion)
        return course.ready.purchase.tally.learn(meter.reported)

    async def _answered(
        self,
        asked: Asked[ChatFields],
        entitled: Entitled,
        shaped: Shaped,
        course: Course,
        hold: Hold,
        reply: Reply,
    ) -> Meter:
        """Make one attempt after another, and return the meter of the one that answers.

        Raises:
            UpstreamError: none does, or one failed when the client had heard something of its answer, or had left.
        """
        call = partial(self._call, asked, entitled, shaped, course, hold)
        while True:
            try:
                if course.hedge_s is None or asked.deferred:
                    return await call(course.ready, reply)
                return await Race(call, course, hold, reply).run(course.hedge_s)
            except UpstreamError as error:
                if reply.spoken or reply.departure.happened or asked.carrier is not None:
                    raise
                await course.go_on(error)
                if reply.departure.happened:
                    raise

    async def _call(
        self,
        asked: Asked[ChatFields],
        entitled: Entitled,
        shaped: Shaped,
        course: Course,
        hold: Hold,
        ready: Ready,
        reply: Reply,
    ) -> Meter:
        """Call one model and pass its answer on."""
        meter, departure = Meter(ready.purchase.tally, shaped.most_output), reply.departure
        upstream, timeouts = ready.purchase.upstream, ready.purchase.upstream.timeouts
        if asked.deferred and not upstream.sells:  # it may have to stand still while others are served
            timeouts = Timeouts(first_token_s=asked.limit_s, idle_s=asked.limit_s, total_s=asked.limit_s)
        await self.confining.called(asked, entitled, upstream.name, upstream.zone)
        with course.calling(ready, asked.purpose, meter, left=lambda: departure.happened):
            so_far, overhead_s = len(course.made) + 1, self.ticks() - asked.tick
            await reply.begin(Facts(hold.opening, None, hold.tightest, hold.rates, overhead_s, so_far))
            await relay(
                upstream,
                ready.wanted,
                asked.request_id,
                meter,
                Brake(hold, ready.purchase.price),
                reply,
                timeouts=timeouts,
                limit_s=min(course.left_s, timeouts.total_s),
                ticks=self.ticks,
            )
        return meter


async def _tell(completion: dict[str, Any], facts: Facts, reply: Reply) -> None:
    """Give an answer that was paid for before, in the form this caller asked for."""
    await reply.begin(facts)
    await reply.told(completion)
    await reply.finish(completion, facts)


async def _pause(reply: Reply, seconds: float) -> None:
    """Wait, unless the client leaves."""
    with anyio.move_on_after(seconds) as scope:
        reply.departure.then(scope.cancel)
        await anyio.sleep_forever()


def _may_be_kept(completion: dict[str, Any], slot: Slot) -> bool:
    """Say whether every choice ended in a way that would be the same for the next one who asks."""
    endings = [choice.get("finish_reason") for choice in completion["choices"]]
    kept = _KEPT_ENDINGS - {"length"} if slot.whole or "sluice" in completion else _KEPT_ENDINGS
    return all(isinstance(ending, str) and ending in kept for ending in endings)
