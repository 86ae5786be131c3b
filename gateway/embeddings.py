"""The path of one embeddings request: the order of `chat.py`, for an answer of one piece that has no output tokens."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from typing import Any, Final

import anyio
import msgspec

from cache.answers import AnswerCache
from cache.config import ExactSection
from cache.stores import Stored
from gateway.catalogue import Catalogue
from gateway.errors import UpstreamTimeout
from gateway.steps.accounts import Bought
from gateway.steps.admission import Admission, Asked
from gateway.steps.estimate import likely_prompt_tokens, most_prompt_tokens
from gateway.steps.purchasing import Purchase, Purchasing
from gateway.steps.slot import Slot, slot_of
from gateway.wire.embedding_body import EmbeddingFields
from gateway.wire.headers import Facts, facts_of
from governance.prices import Usage
from governance.purse import Hold

TOTAL_S: Final = 120.0
_OURS = frozenset({"cache", "metadata"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingService:
    """Answers embeddings requests. `ticks` is a monotonic clock in seconds."""

    admission: Admission
    catalogue: Catalogue
    answers: AnswerCache
    exact: ExactSection | None
    purchasing: Purchasing
    ticks: Callable[[], float]

    async def answer(self, asked: Asked[EmbeddingFields]) -> tuple[dict[str, Any], Facts]:
        """Return the reply's body and what to say of it."""
        entitled = self.admission.entitle(asked.caller, asked.offered)
        body = {name: value for name, value in asked.body.items() if name not in _OURS}
        async with AsyncExitStack() as stack:
            with self.admission.refusals_recorded(asked, entitled):
                wish = self.catalogue.wish(asked.model, "embedding", entitled.grant)
                slot = slot_of(asked, entitled, wish, body, self.exact)
                stored = await self.answers.find(slot.key, slot.directives)
                if stored is not None and self.catalogue.grants(stored.model, entitled.grant):
                    _, facts = await self.purchasing.take(asked, entitled, stored, self.ticks() - asked.tick)
                    return msgspec.json.decode(stored.body), facts
                route = self.catalogue.choose(wish, entitled.grant, asked.controls.zone)
                purchase = self.purchasing.price(route, most_prompt_tokens(asked.size, ()), 0)
                hold = await stack.enter_async_context(
                    self.purchasing.hold(asked, entitled, purchase, slot.outcome, TOTAL_S)
                )
            return await self._buy(asked, body, purchase, hold, slot)

    async def _buy(
        self, asked: Asked[EmbeddingFields], body: dict[str, Any], purchase: Purchase, hold: Hold, slot: Slot
    ) -> tuple[dict[str, Any], Facts]:
        """Call the model and settle for what it read; a client that leaves changes nothing, the call is paid for."""
        called_at, error = self.ticks(), None
        result: dict[str, Any] = {}
        try:
            result = await self._call(asked, body, purchase)
        except BaseException as failure:
            error = failure
            raise
        finally:
            upstream_s = self.ticks() - called_at
            usage, estimated = _usage(result, asked.size)
            bought = Bought(
                model=purchase.model,
                price=purchase.price,
                purpose="embedding",
                at=asked.at,
                seconds=upstream_s,
                usage=usage,
                estimated=estimated,
                error=error,
                left=False,
            )
            settlement = await self.purchasing.settle(hold, bought)
        if slot.ttl and settlement.usage is not None:
            kept_usage, paid = asdict(settlement.usage), settlement.cost.nanos
            kept = Stored(msgspec.json.encode(result), purchase.model.name, paid, kept_usage, asked.at.timestamp())
            await self.answers.put(slot.key, kept, slot.ttl)
        overhead_s = self.ticks() - asked.tick - upstream_s
        return result, facts_of(hold.opening, settlement, hold.tightest, hold.rates, overhead_s)

    async def _call(self, asked: Asked[EmbeddingFields], body: dict[str, Any], purchase: Purchase) -> dict[str, Any]:
        limit_s = asked.controls.timeout_s or TOTAL_S
        with anyio.move_on_after(limit_s):
            return await purchase.upstream.embed(body | {"model": purchase.model.upstream_model}, asked.request_id)
        raise UpstreamTimeout(f"The embeddings were not complete within {limit_s:g} s.", purchase.upstream.name)


def _usage(result: dict[str, Any], body_bytes: int) -> tuple[Usage | None, bool]:
    """Return what was read, and whether it is a guess: a reply without usage is still paid for."""
    if not result:
        return None, False
    said = result.get("usage")
    usage = Usage.from_openai(said) if isinstance(said, dict) else None
    return usage or Usage(fresh_input=likely_prompt_tokens(body_bytes)), usage is None
