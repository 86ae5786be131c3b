"""What a chat request must look like to be said in this dialect; only what is taken apart is looked at."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta


class Function(msgspec.Struct, frozen=True):
    """What is said to a function."""

    name: str
    arguments: str


class Custom(msgspec.Struct, frozen=True):
    """What is said to a tool that takes free text."""

    name: str
    input: str


class Call(msgspec.Struct, frozen=True):
    """A call of either."""

    id: str
    type: str = "function"
    function: Function | None = None
    custom: Custom | None = None
    reasoning_items: list[dict[str, Any]] | None = None


class Message(msgspec.Struct, frozen=True):
    """A turn."""

    role: str
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    phase: str | None = None
    tool_call_id: str | None = None
    tool_calls: list[Call] | None = None
    reasoning_items: list[dict[str, Any]] | None = None


class Tool(msgspec.Struct, frozen=True):
    """A tool that is offered."""

    type: str
    function: dict[str, Any] | None = None
    custom: dict[str, Any] | None = None


class Allowed(msgspec.Struct, frozen=True):
    """The tools among which the model may choose."""

    tools: list[Tool]


class Choice(msgspec.Struct, frozen=True):
    """The tool that must be called, or those that may be."""

    type: str
    allowed_tools: Allowed | None = None


class ChatShape(msgspec.Struct, frozen=True):
    """A request."""

    messages: Annotated[list[Message], Meta(min_length=1)]
    tools: list[Tool] | None = None
    tool_choice: str | Choice | None = None
    response_format: dict[str, Any] | None = None
    reasoning: dict[str, Any] | None = None
    include: list[str] | None = None
    stream_options: dict[str, Any] | None = None
