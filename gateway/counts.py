"""The path of one count of a prompt's tokens: the order of `chat.py`, less all that money needs, for it costs none.

Where the provider of the model lends its tokenizer it is asked, which is an attempt of the ledger like any other.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gateway.catalogue import Catalogue
from gateway.counting.tally import Counting
from gateway.steps.accounts import Accounts
from gateway.steps.admission import Admission, Asked
from gateway.steps.confining import Confining
from gateway.steps.guarding.guarding import Guarding
from gateway.wire.headers import Facts
from gateway.wire.request.chat_body import ChatFields
from governance.ledger.events import Attempt, Settlement
from governance.money import ZERO
from governance.prices import Price
from governance.purse import Purse

FREE: Final = Price(input=ZERO, output=ZERO, source="free")


@dataclass(frozen=True, slots=True, kw_only=True)
class CountService:
    """Counts prompts. `ticks` is a monotonic clock in seconds."""

    admission: Admission
    confining: Confining
    guarding: Guarding
    catalogue: Catalogue
    counting: Counting
    purse: Purse
    accounts: Accounts
    ticks: Callable[[], float]

    async def answer(self, asked: Asked[ChatFields]) -> tuple[int, Facts]:
        """Return how many tokens the prompt has for the model that would answer it, and what to say of the request."""
        admitted = self.admission.admit(asked.caller, asked.offered)
        with self.admission.refusals_recorded(asked, admitted):
            asked, entitled = await self.confining.confine(asked, admitted)
            asked = (await self.guarding.read(asked, entitled)).asked
            wish = self.catalogue.wish(asked.model, "chat", entitled.grant)
            route = self.catalogue.choose(wish, entitled.grant, entitled.confined)
            self.purse.admit()
        model, called_at = self.catalogue.models[route.model], self.ticks()
        zone = self.catalogue.upstream(model).zone
        await self.confining.called(asked, entitled, model.provider, zone)
        count = await self.counting.count_prompt(
            model, asked.body, entitled.confined, asked.request_id, spoken=asked.dialect
        )
        seconds = self.ticks() - called_at
        attempt = Attempt(
            at=asked.at,
            purpose="count",
            provider=model.provider,
            model=model.name,
            upstream_model=model.upstream_model,
            outcome="ok" if count.exact else "failed",
            price=FREE,
            cost=ZERO,
            duration_ms=seconds * 1000,
            zone=zone,
        )
        settlement = Settlement(outcome="ok", status=200, attempts=(attempt,) if count.asked else ())
        opening = self.admission.opening(
            asked, entitled, model=model.name, provider=model.provider, route=route.reason, cache="bypass"
        )
        self.purse.free(opening, settlement)
        self.accounts.settled(opening, settlement)
        facts = Facts(opening, settlement, None, (), self.ticks() - asked.tick - seconds)
        self.accounts.answered(facts)
        return count.tokens, facts
