"""What each kind of provider keeps of a prompt, and how it wants to be asked.

Spec: the Anthropic API reference, "Prompt caching"; the Amazon Bedrock user guide, "Prompt caching"; the OpenAI guide
"Prompt caching"; the Gemini API guide "Context caching". A newer model of Claude than is named here is taken to be one
of those that want the longest prefix: a mark on a shorter one does nothing, and takes a place from another.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gateway.policy.models import AnthropicProvider, BedrockProvider, OpenAIProvider, Provider
from gateway.providers.apis.manners import manners_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """What is kept for some models.

    Attributes:
        least_tokens: a shorter prefix is not kept.
        marked: only what is marked is kept, and writing it has a price; else all is kept by itself.
        tools: tools may be marked.
        hour: it may be kept for an hour.
        keyed: a request may name what it shares its start with, so that it goes where that is kept.
    """

    least_tokens: int = 1024
    marked: bool = False
    tools: bool = True
    hour: bool = False
    keyed: bool = False

    @property
    def idle(self) -> bool:
        """Whether a request can do nothing for it but begin as those before it."""
        return not (self.marked or self.keyed)


FamilyOf = Callable[[str], Family | None]
"""From a provider's name of a model to its family; None where it keeps nothing that we could use."""

AUTOMATIC: Final = Family()
"""Gemini, vLLM, the bundled engine, and most who speak the OpenAI API."""

KEYED: Final = Family(keyed=True)
"""OpenAI."""

NOVA: Final = Family(least_tokens=1000, marked=True, tools=False)

_CLAUDE_LEAST: Final = (
    (("3-haiku", "3-5-haiku", "haiku-3", "sonnet-4-6"), 2048),
    (("haiku-4", "opus-4-5", "opus-4-6", "opus-4-7"), 4096),
    (("3-5-sonnet", "3-7-sonnet", "3-opus", "3-sonnet", "sonnet-3", "sonnet-4", "opus-4"), 1024),
)
_CLAUDE_OTHERS: Final = 4096


def families_of(section: Provider) -> FamilyOf:
    """Return what a provider of the policy keeps."""
    match section:
        case AnthropicProvider():
            return _anthropic
        case BedrockProvider():
            return _bedrock
        case OpenAIProvider(api="responses"):
            return lambda _: KEYED
        case OpenAIProvider():
            return _keyed if manners_of(section.base_url.host).keyed else _automatic
        case _:
            return _automatic


def _anthropic(model: str) -> Family:
    return Family(least_tokens=_least(model), marked=True, hour=True)


def _bedrock(model: str) -> Family | None:
    if "claude" in model:
        return Family(least_tokens=_least(model), marked=True)
    return NOVA if "nova" in model else None


def _keyed(_: str) -> Family:
    return KEYED


def _automatic(_: str) -> Family:
    return AUTOMATIC


def _least(model: str) -> int:
    name = model.replace(".", "-")
    return next((least for words, least in _CLAUDE_LEAST if any(word in name for word in words)), _CLAUDE_OTHERS)
