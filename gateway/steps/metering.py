"""Meter one streamed answer: what it has said, and what it has used."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from gateway.counting.tally import Tally
from gateway.errors import UpstreamError
from gateway.providers.upstream import Chunk
from gateway.wire.fold import Fold, objects
from governance.prices import Service, Usage

_SERVICES: Final[Mapping[str, Service]] = {"flex": "flex", "priority": "priority", "fast": "priority"}
"""What an answer says of a service that may have a price of its own."""


class Meter:
    """Follows the chunks of one attempt.

    Attributes:
        first_at: the tick of the first chunk, or None.
        begun: something has been said: a role, a ping or a count of the prompt is no beginning.
    """

    def __init__(self, tally: Tally, most_output: int) -> None:
        self.first_at: float | None = None
        self.begun = False
        self._believed = True
        self._tally = tally
        self._most_output = most_output
        self._fold = Fold()
        self._said: dict[str, Any] = {}

    def see(self, chunk: Chunk, tick: float) -> None:
        """Take in one chunk."""
        if not chunk.value:
            return
        if self.first_at is None:
            self.first_at = tick
        self._fold.add(chunk.value)
        self.begun = self.begun or _says(chunk.value)
        usage = chunk.value.get("usage")
        if isinstance(usage, dict):  # the last one counts, so only that one is read; some end with an empty one
            self._said = usage or self._said

    @property
    def heard(self) -> bool:
        """Whether anything of an answer has come."""
        return self.first_at is not None

    @property
    def complete(self) -> bool:
        """Whether every choice has said how it ended."""
        return self._fold.finished

    def check_complete(self, provider: str) -> None:
        """Raise when the provider ended its stream before the answer.

        Raises:
            UpstreamError: some choice never said how it ended.
        """
        if not self.complete:
            raise UpstreamError(f"Provider {provider!r} ended its stream before the answer.", provider)

    @property
    def told(self) -> Usage | None:
        """What the provider has said so far, whether or not it makes sense for an answer."""
        return Usage.from_openai(self._said)

    @property
    def service(self) -> Service:
        """How the provider says that it served, which may be otherwise than it was asked, and decides the price."""
        tier = self._fold.told("service_tier")
        return _SERVICES.get(tier, "standard") if isinstance(tier, str) else "standard"

    def cut(self, facts: dict[str, Any]) -> Chunk:
        """End the answer here, as if for its length, and return the chunk that says so and why."""
        value = self._fold.cut("length", {"sluice": facts})
        return Chunk(msgspec.json.encode(value), value)

    @property
    def reported(self) -> Usage | None:
        """What the provider says has been used, if it is believed.

        An answer of text and no tokens is no usage, nor is one to a prompt of none, nor one that broke off with none,
        unless the answer was withheld.
        """
        usage = self.told if self._believed else None
        told = usage is None or (usage.output_tokens and usage.input_tokens)
        silent = not told and (any(self._fold.texts) or not self.complete) and not self._fold.withheld
        return None if silent else usage

    def disbelieve(self) -> None:
        """Go by what was said, not by what the provider says of it: it bills more or less of a call that is stopped."""
        self._believed = False

    @property
    def used(self) -> Usage:
        """What has been used as far as is known."""
        return self.reported or self.guess

    @property
    def guess(self) -> Usage:
        """What has probably been used: never more than was held, unless the provider has counted the answer.

        The prompt is as the provider has told it, where it told that before the answer, or goes by what it
        is made of, as the answer goes by what was said.
        """
        said = min(self._tally.said(self._fold.texts), self._most_output)
        told = self.told
        if told is not None and told.input_tokens:
            return replace(told, output=said, reasoning=0, audio_output=0)
        if told is not None and told.output_tokens and self._believed:
            return replace(told, fresh_input=self._tally.likely)
        return Usage(fresh_input=self._tally.likely, output=said)

    def completion(self) -> dict[str, Any]:
        """Return the whole completion, with usage."""
        usage = self._said if self.reported is not None else openai_usage(self.guess)
        return self._fold.completion() | {"usage": usage}


def _says(value: dict[str, Any]) -> bool:
    for choice in objects(value.get("choices")):
        delta = choice.get("delta")
        said = delta.items() if isinstance(delta, dict) else ()
        if choice.get("finish_reason") or any(part for name, part in said if name != "role"):
            return True
    return False


def openai_usage(usage: Usage) -> dict[str, Any]:
    """Return `usage` as the OpenAI API writes it, for answers whose provider said nothing."""
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }
