"""The path of one embeddings request: the order of `chat.py`, for an answer of one piece that has no output tokens.

No budget downgrades it: the vectors of another model mean nothing beside those a caller already has.
"""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Final

import anyio
import msgspec

from gateway.catalogue import Catalogue
from gateway.counting.tally import Prompt
from gateway.errors import UpstreamTimeout
from gateway.providers.upstream import Upstream, Wanted
from gateway.steps.accounts import Bought
from gateway.steps.admission import Admission, Asked
from gateway.steps.idempotency import OnceOnly
from gateway.steps.purchasing import Purchase, Purchasing
from gateway.steps.shaping import addressed
from gateway.steps.slot import ExactCache, Slot
from gateway.wire.headers import Facts
from gateway.wire.request.embedding_body import EmbeddingFields
from governance.prices import Usage
from governance.purse import Hold

TOTAL_S: Final = 120.0
_OURS = frozenset({"cache", "metadata"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingService:
    """Answers embeddings requests. `ticks` is a monotonic clock in seconds."""

    admission: Admission
    once: OnceOnly
    catalogue: Catalogue
    exact: ExactCache
    purchasing: Purchasing
    ticks: Callable[[], float]

    async def answer(self, asked: Asked[EmbeddingFields]) -> tuple[dict[str, Any], Facts]:
        """Return the reply's body and what to say of it."""
        entitled = self.admission.entitle(asked.caller, asked.offered)
        body = addressed(asked.body, _OURS, entitled.attribution)
        async with AsyncExitStack() as stack:
            with self.admission.refusals_recorded(asked, entitled):
                wish = self.catalogue.wish(asked.model, "embedding", entitled.grant)
                asked, turn = await self.once.turn(asked, stack, _stays)
                if turn.answer is not None:
                    facts = self.purchasing.again(asked, entitled, turn.answer.model, self.ticks() - asked.tick)
                    return msgspec.json.decode(turn.answer.body), facts
                pressure = await self.purchasing.pressure(asked, entitled)
                slot, stored = await self.exact.find(asked, entitled, wish, body, any_age=pressure.tighten)
                repeats = self.purchasing.repeats(asked, entitled, slot, body)
                if stored is not None:
                    overhead_s = self.ticks() - asked.tick
                    facts = await self.purchasing.take(asked, entitled, stored, repeats, overhead_s)
                    result = msgspec.json.decode(stored.body)
                    await turn.keep(result, facts)
                    return result, facts
                route = self.catalogue.choose(wish, entitled.grant, asked.controls.zone)
                purchase = self.purchasing.price(route, Prompt(body, asked.size), 0)
                body |= {"model": purchase.model.upstream_model}
                wanted = purchase.upstream.write_embeddings(body)
                held = self.purchasing.hold(asked, entitled, purchase, slot.outcome, pressure, repeats)
                hold = await stack.enter_async_context(held)
            result, facts = await self._buy(asked, body, purchase, wanted, hold, slot)
            await turn.keep(result, facts)
            return result, facts

    async def _buy(
        self,
        asked: Asked[EmbeddingFields],
        body: dict[str, Any],
        purchase: Purchase,
        wanted: Wanted,
        hold: Hold,
        slot: Slot,
    ) -> tuple[dict[str, Any], Facts]:
        """Call the model and settle for what it read; a client that leaves changes nothing, the call is paid for."""
        called_at, error = self.ticks(), None
        result: dict[str, Any] = {}
        try:
            result = await _call(asked, body, purchase.upstream, wanted)
        except BaseException as failure:
            error = failure
            raise
        finally:
            upstream_s = self.ticks() - called_at
            reported = Usage.from_openai(result.get("usage"))
            begun = bool(result) or purchase.may_be_billed(error)
            guess = Usage(fresh_input=purchase.tally.likely) if begun else None
            bought = Bought(
                model=purchase.model,
                price=purchase.price,
                purpose="embedding",
                at=asked.at,
                seconds=upstream_s,
                usage=reported or guess,
                estimated=begun and reported is None,
                error=error,
                left=False,
            )
            settlement = await self.purchasing.settle(hold, bought)
        if reported is None and guess is not None:
            result = result | {"usage": {"prompt_tokens": guess.total, "total_tokens": guess.total}}
        await self.exact.keep(asked, slot, purchase.model.name, settlement, result)
        overhead_s = self.ticks() - asked.tick - upstream_s
        facts = Facts(hold.opening, settlement, hold.tightest, hold.rates, overhead_s)
        self.purchasing.accounts.answered(facts)
        purchase.tally.learn(reported)
        return result, facts


async def _call(
    asked: Asked[EmbeddingFields], body: dict[str, Any], upstream: Upstream, wanted: Wanted
) -> dict[str, Any]:
    with anyio.move_on_after(asked.limit_s):
        return await upstream.embed(wanted, body, asked.request_id)
    raise UpstreamTimeout(f"The embeddings were not complete within {asked.limit_s:g} s.", upstream.name)


def _stays() -> bool:
    """A client of embeddings is not watched: it is taken to be there."""
    return False
