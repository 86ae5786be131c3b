"""How those who speak the OpenAI API differ where it leaves things open, or where they leave it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """How one of them behaves.

    Attributes:
        limit_field: the field that bounds an answer; the other name for it might be ignored.
        usage_asked: it tells the usage of a stream when asked; others tell it always, and know no such question.
        usage_per_chunk: it can say the usage so far with every chunk, so a cut stream is still counted exactly.
        salted: its prefix cache takes a salt, so that no tenant can time another's prompts.
        knows: fields of other dialects, or of messages in them, that it obeys as well.
        keyed: it takes a name for what a request shares its start with, to find where that is cached.
        renamed: what it calls a field otherwise.
        ranked: it lets calls that nobody waits for stand behind all others.
        unsaid: fields that it refuses and whose absence leaves the answer what it is.
    """

    limit_field: str = "max_tokens"
    usage_asked: bool = True
    usage_per_chunk: bool = False
    salted: bool = False
    knows: frozenset[str] = frozenset()
    ranked: bool = False
    keyed: bool = False
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    unsaid: frozenset[str] = frozenset()


OWN: Final = Manners(limit_field="max_completion_tokens", usage_per_chunk=True, salted=True, knows=frozenset({"top_k"}))
"""Machines of our own: vLLM, and in this much the bundled engine."""

RANKED: Final = replace(OWN, ranked=True)
"""The bundled engine. vLLM knows priorities only where it was started with them, and refuses them elsewhere."""

OPENAI: Final = Manners(limit_field="max_completion_tokens", keyed=True)
"""OpenAI itself, and Azure for it: their reasoning models insist on the newer name of the bound."""

FOLLOWING: Final = Manners(limit_field="max_completion_tokens")
"""Who has followed OpenAI in the name of the bound, but may refuse a field of its caches."""

THINKING: Final = Manners(knows=frozenset({"reasoning_content"}))
"""DeepSeek and Moonshot refuse a turn with a call of a tool that comes back without what was thought before it."""

MISTRAL: Final = Manners(
    usage_asked=False,
    renamed={"seed": "random_seed"},
    unsaid=frozenset(
        {"user", "store", "service_tier", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"}
    ),
)
"""Mistral refuses every field that it does not know."""

_BY_HOST: Final[Mapping[str, Manners]] = {
    "api.openai.com": OPENAI,
    ".openai.azure.com": OPENAI,
    ".services.ai.azure.com": OPENAI,
    "api.cerebras.ai": FOLLOWING,
    "api.deepseek.com": THINKING,
    "api.groq.com": FOLLOWING,
    "api.mistral.ai": MISTRAL,
    "api.moonshot.ai": THINKING,
    "api.x.ai": FOLLOWING,
}


def manners_of(host: str | None) -> Manners:
    """Return the manners of whoever answers at a host; of one that is not known, those that most have."""
    known = _BY_HOST.get(host or "")
    behind = (found for end, found in _BY_HOST.items() if end.startswith(".") and (host or "").endswith(end))
    return known or next(behind, Manners())
