"""The path of one embeddings request: the order of `chat.py`, for an answer of one piece that has no output tokens.

No budget downgrades it: the vectors of another model mean nothing beside those a caller already has.
"""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import anyio
import msgspec

from gateway.attempts.course import Course, Errand, Persistence, Ready
from gateway.catalogue import Catalogue
from gateway.counting.tally import Prompt
from gateway.errors import UpstreamError, UpstreamTimeout
from gateway.steps.admission import Admission, Asked, Entitled
from gateway.steps.confining import Confining
from gateway.steps.guarding.guarding import Guarding
from gateway.steps.purchasing import Purchasing
from gateway.steps.reuse.idempotency import OnceOnly
from gateway.steps.reuse.slot import ExactCache, Slot
from gateway.steps.shaping import addressed
from gateway.wire.headers import Facts
from gateway.wire.request.embedding_body import EmbeddingFields
from governance.prices import Service, Usage
from governance.purse import Hold
from router_models.router import Route

_OURS: Final = frozenset({"cache", "metadata"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingService:
    """Answers embeddings requests. `ticks` is a monotonic clock in seconds."""

    admission: Admission
    confining: Confining
    guarding: Guarding
    once: OnceOnly
    catalogue: Catalogue
    exact: ExactCache
    purchasing: Purchasing
    persistence: Persistence
    ticks: Callable[[], float]

    async def answer(self, asked: Asked[EmbeddingFields]) -> tuple[dict[str, Any], Facts]:
        """Return the reply's body and what to say of it."""
        admitted = self.admission.admit(asked.caller, asked.offered)
        async with AsyncExitStack() as stack:
            with self.admission.refusals_recorded(asked, admitted):
                asked, entitled = await self.confining.confine(asked, admitted)
                guarded = await self.guarding.read(asked, entitled)
                wish = self.catalogue.wish(asked.model, "embedding", entitled.grant)
                turn = await self.once.turn(asked, stack, _stays)
                asked = guarded.asked
                body = addressed(asked.body, _OURS, entitled.attribution)
                if turn.answer is not None:
                    facts = self.purchasing.again(asked, entitled, turn.answer.model, self.ticks() - asked.tick)
                    return msgspec.json.decode(turn.answer.body), facts
                pressure = await self.purchasing.pressure(asked, entitled)
                slot, stored = await self.exact.find(asked, entitled, wish, body, stack, any_age=pressure.tighten)
                repeats = self.purchasing.repeats(asked, entitled, slot, body)
                if stored is not None:
                    overhead_s = self.ticks() - asked.tick - slot.waited_s
                    facts = await self.purchasing.take(asked, entitled, stored, repeats, overhead_s, slot.hit)
                    result = msgspec.json.decode(stored.body)
                    await turn.keep(result, facts)
                    return result, facts
                route = self.catalogue.choose(wish, entitled.grant, entitled.confined)
                prepare = partial(self._prepare, asked, entitled, body)
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
                pause=anyio.sleep,
            )
            course = Course(self.persistence, errand, first, hold)
            result, facts = await self._buy(asked, entitled, body, course, hold, slot)
            await turn.keep(result, facts)
            return result, facts

    def _prepare(self, asked: Asked[EmbeddingFields], entitled: Entitled, body: dict[str, Any], route: Route) -> Ready:
        purchase = self.purchasing.price(route, Prompt(body, asked.size), 0)
        named = body | {"model": purchase.model.upstream_model}
        return Ready(purchase, purchase.upstream.write_embeddings(named, entitled.confined))

    async def _buy(
        self,
        asked: Asked[EmbeddingFields],
        entitled: Entitled,
        body: dict[str, Any],
        course: Course,
        hold: Hold,
        slot: Slot,
    ) -> tuple[dict[str, Any], Facts]:
        """Call the model and settle for what it read; a client that leaves changes nothing, the call is paid for."""
        called_at, error = self.ticks(), None
        try:
            read = await self._answered(asked, entitled, body, course)
        except BaseException as failure:
            error = failure
            raise
        finally:
            upstream_s = self.ticks() - called_at
            settlement = await self.purchasing.settle(hold, course.made, error)
        result = read.told
        await self.exact.keep(asked, entitled, slot, hold.opening.model, settlement, result)
        overhead_s = self.ticks() - asked.tick - slot.waited_s - upstream_s
        facts = Facts(hold.opening, settlement, hold.tightest, hold.rates, overhead_s)
        self.purchasing.accounts.answered(facts)
        course.ready.purchase.tally.learn(read.reported)
        return result, facts

    async def _answered(
        self, asked: Asked[EmbeddingFields], entitled: Entitled, body: dict[str, Any], course: Course
    ) -> "Read":
        """Make one attempt after another, and return what the one that answers has read.

        Raises:
            UpstreamError: none does.
        """
        while True:
            purchase, wanted, _ = course.ready
            read = Read(purchase.tally.likely)
            try:
                await self.confining.called(asked, entitled, purchase.upstream.name, purchase.upstream.zone)
                with course.calling(course.ready, "embedding", read, left=lambda: False):
                    named = body | {"model": purchase.model.upstream_model}
                    with anyio.move_on_after(course.left_s) as scope:
                        read.result = await purchase.upstream.embed(wanted, named, asked.request_id)
                    if scope.cancelled_caught:
                        text = f"The embeddings were not complete within {asked.limit_s:g} s."
                        raise UpstreamTimeout(text, purchase.upstream.name)
            except UpstreamError as error:
                await course.go_on(error)
            else:
                return read


class Read:
    """What one call for vectors has used."""

    first_at = None
    service: Service = "standard"

    def __init__(self, likely: int) -> None:
        self.result: dict[str, Any] = {}
        self.guess = Usage(fresh_input=likely)

    @property
    def heard(self) -> bool:
        """Whether the reply has come."""
        return bool(self.result)

    @property
    def reported(self) -> Usage | None:
        """What the provider says has been read; nothing is none, since no text is empty."""
        usage = Usage.from_openai(self.result.get("usage"))
        return None if usage is None or not usage.input_tokens else usage

    @property
    def told(self) -> dict[str, Any]:
        """The reply, with usage."""
        usage = {"prompt_tokens": self.guess.total, "total_tokens": self.guess.total}
        return self.result if self.reported is not None else self.result | {"usage": usage}


def _stays() -> bool:
    """A client of embeddings is not watched: it is taken to be there."""
    return False
