"""What a chunk of a chat completion must look like to be said in this dialect."""

from typing import Any

import msgspec


class Piece(msgspec.Struct, frozen=True):
    """A part of a thought, or a piece of one."""

    index: int | None = None
    text: str | None = None


class Thought(msgspec.Struct, frozen=True):
    """An item of reasoning, or a piece of one."""

    index: int | None = None
    id: str | None = None
    summary: list[Piece] | None = None
    content: list[Piece] | None = None


class Said(msgspec.Struct, frozen=True):
    """What is said to a tool."""

    name: str | None = None
    arguments: str | None = None
    input: str | None = None


class Call(msgspec.Struct, frozen=True):
    """A call, or a piece of one."""

    index: int | None = None
    id: str | None = None
    type: str | None = None
    function: Said | None = None
    custom: Said | None = None
    reasoning_items: list[Thought] | None = None


class Delta(msgspec.Struct, frozen=True):
    """What a message says further."""

    content: str | None = None
    refusal: str | None = None
    phase: str | None = None
    annotations: list[dict[str, Any]] | None = None
    tool_calls: list[Call] | None = None
    reasoning_items: list[Thought] | None = None


class Logprobs(msgspec.Struct, frozen=True):
    """How likely its tokens were."""

    content: list[dict[str, Any]] | None = None


class Choice(msgspec.Struct, frozen=True):
    """One answer of several."""

    index: int | None = None
    delta: Delta | None = None
    logprobs: Logprobs | None = None
    finish_reason: str | None = None


class ChunkShape(msgspec.Struct, frozen=True):
    """One chunk."""

    choices: list[Choice] | None = None
    usage: dict[str, Any] | None = None
    created: int | float | None = None
    error: dict[str, Any] | None = None
