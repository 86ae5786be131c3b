"""What a chat completion request must look like before we act on it.

Only the fields that governance reads are checked here; every other field goes to a provider of the same dialect as
it came, and that provider is the judge of it. Spec: the OpenAI API reference, "Create chat completion".
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from gateway.errors import BadRequest
from gateway.wire.body import decode, shaped
from gateway.wire.request.priced_fields import refuse_priced_fields, refuse_tools_of_providers, refuse_unpriced_parts

Role = Literal["system", "developer", "user", "assistant", "tool", "function"]
Positive = Annotated[int, Meta(ge=1, le=2**31 - 1)]


class Message(msgspec.Struct, frozen=True):
    """One turn; content may be absent only where tool calls or a refusal stand in its place."""

    role: Role
    content: str | list[dict[str, Any]] | None = None
    tool_calls: list[dict[str, Any]] | None = None
    function_call: dict[str, Any] | None = None
    refusal: str | None = None


class StreamOptions(msgspec.Struct, frozen=True):
    """What the client wants in its stream beside text."""

    include_usage: bool = False


class ChatFields(msgspec.Struct, frozen=True):
    """The fields of a chat request that governance reads."""

    model: Annotated[str, Meta(min_length=1, max_length=200)]
    messages: Annotated[list[Message], Meta(min_length=1)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Positive | None = None
    max_completion_tokens: Positive | None = None
    n: Annotated[int, Meta(ge=1, le=128)] | None = None
    stop: str | list[str] | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    user: Annotated[str, Meta(max_length=512)] | None = None
    metadata: dict[str, Any] | None = None


def decode_chat(raw: bytes) -> tuple[dict[str, Any], ChatFields]:
    """Return the body as it came and the fields we act on.

    Raises:
        BadRequest: with the path of the first field that is wrong.
    """
    body = decode(raw)
    return body, checked(body)


def checked(body: dict[str, Any]) -> ChatFields:
    """Return the fields that we act on of a body that is decoded, or translated from another dialect.

    Raises:
        BadRequest: with the path of the first field that is wrong.
    """
    fields = shaped(body, ChatFields)
    if fields.stream_options is not None and not fields.stream:
        raise BadRequest("'stream_options' is only allowed when 'stream' is true.", param="stream_options")
    for index, message in enumerate(fields.messages):
        _check(message, f"messages[{index}]")
    refuse_priced_fields(body)
    refuse_tools_of_providers(body.get("tools"))
    refuse_unpriced_parts(body["messages"])
    return fields


def _check(message: Message, path: str) -> None:
    stands_in = message.tool_calls or message.function_call or message.refusal
    if message.content is None and not (message.role == "assistant" and stands_in):
        raise BadRequest(f"A message of role {message.role!r} needs 'content'.", param=f"{path}.content")
    if isinstance(message.content, list):
        for index, part in enumerate(message.content):
            if not isinstance(part.get("type"), str):
                raise BadRequest("A content part needs a 'type'.", param=f"{path}.content[{index}].type")
