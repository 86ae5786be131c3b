"""The rules over what a request says, before anybody else sees it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import msgspec

from gateway.steps.accounts import Accounts
from gateway.steps.admission import Asked, Entitled
from gateway.steps.guarding.answers import Acted, GuardedReply
from gateway.steps.guarding.bodies import last_question, new_texts, rewritten, texts
from gateway.steps.guarding.meanings import MeaningRules
from gateway.steps.guarding.restoring import RestoringReply
from gateway.wire.reply import Reply
from governance.guardrails.placeholders import Placeholders
from governance.guardrails.rules import Length, Rule, Rules, Topics
from governance.guardrails.texts import GuardedText
from governance.ledger.events import JUDGE

FieldsT = TypeVar("FieldsT")


@dataclass(frozen=True, slots=True)
class Guarded(Generic[FieldsT]):
    """A request that the rules have let pass.

    Attributes:
        asked: the request with what they redact taken out.
        values: what is put back in its answer, by its placeholder; never kept, and never told to anybody else.
    """

    asked: Asked[FieldsT]
    values: Mapping[str, str] = field(repr=False)
    _rules: tuple[Rule, ...]
    _acted: Acted

    def restoring(self, reply: Reply) -> Reply:
        """Return the reply that puts back what was redacted for this caller."""
        return RestoringReply(reply, self.values) if self.values else reply

    def watching(self, reply: Reply) -> GuardedReply:
        """Return the reply that keeps the answer to the rules."""
        return GuardedReply(reply, self._rules, self._acted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarding:
    """Applies the rules of the policy in force."""

    rules: Rules
    meanings: MeaningRules
    accounts: Accounts

    async def read(self, asked: Asked[FieldsT], entitled: Entitled) -> Guarded[FieldsT]:
        """Return the request as it may go on.

        What the gateway asks a model itself is made of texts that have passed already, and is left as it is.

        Raises:
            ContentBlocked: a rule blocks it.
            CacheError: a rule that blocks goes by meanings, and they cannot be told now.
        """
        owner = entitled.attribution
        acted = Acted(lambda rule: self.accounts.guarded(asked.request_id, entitled.caller, rule), pinned=asked.pinned)
        if asked.purpose == JUDGE or not self.rules.all:
            return Guarded(asked, {}, (), acted)
        on_input, on_output = (self.rules.of(on, owner.team, owner.app, owner.feature) for on in ("input", "output"))
        placeholders = Placeholders()
        body = _read(asked.body, on_input, acted, placeholders) if on_input else asked.body
        if body is not asked.body and body != asked.body:
            size = max(asked.size, len(msgspec.json.encode(body)))
            asked = replace(asked, body=body, size=size)
        for rule in on_input:
            if rule.by_meaning and await self.meanings.finds(rule, _looked_at(rule, asked.body)):
                acted(rule)
        return Guarded(asked, placeholders.reversible, on_output, acted)


def _read(body: dict[str, Any], rules: tuple[Rule, ...], acted: Acted, placeholders: Placeholders) -> dict[str, Any]:
    """Return a body with what rules redact taken out."""
    chars = 0
    for text in texts(body):
        placeholders.avoid(text)
        chars += len(text)
    for rule in rules:
        if isinstance(rule.looks_for, Length) and chars > rule.looks_for.most:
            acted(rule)

    def read(text: str, json: bool) -> str:
        guarded = GuardedText(rules, acted, placeholders.of, json=json, whole=True)
        return guarded.feed(text) + guarded.end()

    return rewritten(body, read)


def _looked_at(rule: Rule, body: dict[str, Any]) -> list[str]:
    return [question] if isinstance(rule.looks_for, Topics) and (question := last_question(body)) else new_texts(body)
