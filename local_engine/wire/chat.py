"""Choices of a chat completion: a message, or the deltas that make one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, Struct, UnsetType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from local_engine.request import Delta, TokenLogprob
    from local_engine.types import FinishReason


class TopLogprob(Struct):
    """One alternative at a position."""

    token: str
    logprob: float
    bytes: list[int]


class TokenContent(Struct):
    """One token of the answer; `bytes` is exact where `token` cannot be, within a character."""

    token: str
    logprob: float
    bytes: list[int]
    top_logprobs: list[TopLogprob]


class ChatLogprobs(Struct):
    """The tokens of a choice, or of a delta."""

    content: list[TokenContent]


class MessageDelta(Struct):
    """What a chunk adds to the message."""

    role: str | UnsetType = UNSET
    content: str | UnsetType = UNSET


class ChatChunkChoice(Struct):
    """One choice's part in a chunk."""

    index: int
    delta: MessageDelta
    logprobs: ChatLogprobs | None = None
    finish_reason: FinishReason | None = None
    stop_reason: str | int | None = None


class Message(Struct):
    """The assistant's message."""

    content: str
    role: str = "assistant"


class ChatChoice(Struct):
    """One whole choice."""

    index: int
    message: Message
    logprobs: ChatLogprobs | None
    finish_reason: FinishReason
    stop_reason: str | int | None


class ChatShape:
    """Implements `transcript.Shape`."""

    chunk_object = "chat.completion.chunk"
    reply_object = "chat.completion"

    def opening(self, index: int) -> ChatChunkChoice:
        """Return the first delta of a choice, which names the role."""
        return ChatChunkChoice(index, MessageDelta("assistant", ""))

    def part(self, index: int, delta: Delta) -> ChatChunkChoice:
        """Return what a delta adds to its choice."""
        content = delta.text if delta.text or delta.finish is None else UNSET
        return ChatChunkChoice(
            index, MessageDelta(content=content), chat_logprobs(delta.logprobs), delta.finish, delta.stop
        )

    def whole(
        self,
        index: int,
        text: str,
        logprobs: Sequence[TokenLogprob],
        finish: FinishReason,
        stop: str | int | None,
    ) -> ChatChoice:
        """Return a complete choice."""
        return ChatChoice(index, Message(text), chat_logprobs(logprobs), finish, stop)


def chat_logprobs(logprobs: Sequence[TokenLogprob]) -> ChatLogprobs | None:
    """Return tokens as a chat reports them; None when none were asked for."""
    if not logprobs:
        return None
    return ChatLogprobs(
        [
            TokenContent(
                _text(each.data),
                each.logprob,
                list(each.data),
                [TopLogprob(_text(data), logprob, list(data)) for _, data, logprob in each.top],
            )
            for each in logprobs
        ]
    )


def _text(data: bytes) -> str:
    return data.decode(errors="replace")
