"""Choices of a text completion."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from local_engine.request import Delta, TokenLogprob
    from local_engine.types import FinishReason


class CompletionLogprobs(Struct):
    """Tokens side by side; `text_offset` counts the characters before each token."""

    tokens: list[str]
    token_logprobs: list[float]
    top_logprobs: list[dict[str, float]]
    text_offset: list[int]


class CompletionChoice(Struct):
    """One choice, whole or as a part in a chunk."""

    index: int
    text: str
    logprobs: CompletionLogprobs | None
    finish_reason: FinishReason | None
    stop_reason: str | int | None


class CompletionShape:
    """Implements `transcript.Shape`; remembers how far each choice's text has come."""

    chunk_object = "text_completion"
    reply_object = "text_completion"

    def __init__(self) -> None:
        self._offsets: defaultdict[int, int] = defaultdict(int)

    def opening(self, index: int) -> None:
        """Return nothing: a text needs no introduction."""

    def part(self, index: int, delta: Delta) -> CompletionChoice:
        """Return what a delta adds to its choice."""
        return CompletionChoice(index, delta.text, self._logprobs(index, delta.logprobs), delta.finish, delta.stop)

    def whole(
        self,
        index: int,
        text: str,
        logprobs: Sequence[TokenLogprob],
        finish: FinishReason,
        stop: str | int | None,
    ) -> CompletionChoice:
        """Return a complete choice."""
        return CompletionChoice(index, text, self._logprobs(index, logprobs), finish, stop)

    def _logprobs(self, index: int, logprobs: Sequence[TokenLogprob]) -> CompletionLogprobs | None:
        if not logprobs:
            return None
        shown = CompletionLogprobs([], [], [], [])
        for each in logprobs:
            token = each.data.decode(errors="replace")
            shown.tokens.append(token)
            shown.token_logprobs.append(each.logprob)
            shown.top_logprobs.append({data.decode(errors="replace"): logprob for _, data, logprob in each.top})
            shown.text_offset.append(self._offsets[index])
            self._offsets[index] += len(token)
        return shown
