"""Shape a chat request to what the policy lets an answer be, before anything else looks at it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.wire.request.chat_body import ChatFields
from governance.attribution import Attribution
from governance.policy.rules import OutputRule

UNBOUNDED_MAX_TOKENS = 1024
"""The length of an answer when neither the request nor the policy says: no call goes out without a bound."""

_OURS = frozenset({"cache", "metadata", "max_tokens", "max_completion_tokens"})
"""Fields that do not go to a provider as they came: they are addressed to us, or ours to set."""


@dataclass(frozen=True, slots=True)
class Shaped:
    """A chat request within its bounds.

    Attributes:
        body: what may go to a provider, less the model and the bound on its answer.
        max_tokens: the most tokens of each choice.
        choices: how many answers it asks for.
    """

    body: dict[str, Any]
    max_tokens: int
    choices: int

    @property
    def fingerprinted(self) -> dict[str, Any]:
        """What makes two requests the same: the body and its bound, by whichever name the caller gave it."""
        return self.body | {"max_tokens": self.max_tokens}

    @property
    def most_output(self) -> int:
        """The most output tokens the whole request can make."""
        return self.max_tokens * self.choices


def shape(body: dict[str, Any], fields: ChatFields, rule: OutputRule, attribution: Attribution) -> Shaped:
    """Return the request with its answer's length clamped, the policy's stops added and our own fields taken out."""
    shaped = addressed(body, _OURS, attribution)
    said = [n for n in (fields.max_completion_tokens, fields.max_tokens) if n is not None]
    wanted = min(said) if said else rule.default or rule.ceiling or UNBOUNDED_MAX_TOKENS
    max_tokens = wanted if rule.ceiling is None else min(wanted, rule.ceiling)
    if rule.stop:
        own = [fields.stop] if isinstance(fields.stop, str) else fields.stop or []
        shaped["stop"] = list(dict.fromkeys([*own, *rule.stop]))
    return Shaped(shaped, max_tokens, fields.n or 1)


def addressed(body: Mapping[str, Any], ours: frozenset[str], attribution: Attribution) -> dict[str, Any]:
    """Return what of a request goes to a provider: less what is addressed to us, and its user as the ledger has it.

    So where the policy hashes users, a provider learns no more of them than we keep.
    """
    sent = {name: value for name, value in body.items() if name not in ours and name != "user"}
    return sent | {"user": attribution.user} if body.get("user") and attribution.user else sent
