"""From a client's Messages request to the body of a chat. Spec: the Anthropic API reference, "Create a Message"."""

from collections.abc import Iterator
from typing import Any

from gateway.dialects.messages.fees import refuse_fees
from gateway.dialects.messages.parts import to_content, without
from gateway.dialects.messages.shape.chat_body import CHAT_ONLY
from gateway.dialects.messages.shape.messages_body import Fields, MessagesBody
from gateway.dialects.messages.speech import to_chat_message
from gateway.dialects.messages.tools import to_chat_choice, to_chat_tool
from gateway.errors import BadRequest
from gateway.wire.body import shaped

_PUT = frozenset(
    {"system", "messages", "stop_sequences", "metadata", "tools", "tool_choice", "output_config", "service_tier"}
)
"""Fields that are put into other words; the rest are called the same in both."""

_TIERS = {"auto": "auto", "standard_only": "default"}
_FORMAT_NAME = "answer"
"""Chat wants a name for a schema; Messages has none."""


def to_chat(body: dict[str, Any], shape: type[Fields] = MessagesBody) -> dict[str, Any]:
    """Return the body of a chat that asks for what the Messages request `body` asks for.

    Raises:
        BadRequest: a field is not what the API says, or is one that cannot be carried; `param` is its path.
    """
    shaped(body, shape)
    refuse_fees(body)
    alien = next((name for name in body if name.lower() in CHAT_ONLY), None)
    if alien is not None:
        raise BadRequest(f"{alien!r} is not a field of the Messages API.", param=alien)
    said = {name: value for name, value in body.items() if value is not None}
    chat = without(said, *_PUT)
    chat["messages"] = [*_system(said.get("system")), *_messages(said["messages"])]
    if "stop_sequences" in said:
        chat["stop"] = said["stop_sequences"]
    if "tools" in said:
        chat["tools"] = [to_chat_tool(tool, f"tools[{index}]") for index, tool in enumerate(said["tools"])]
    if "tool_choice" in said:
        chat |= to_chat_choice(said["tool_choice"])
    if "service_tier" in said:
        chat["service_tier"] = _TIERS[said["service_tier"]]
    return chat | _metadata(said.get("metadata", {})) | _output(said.get("output_config", {}))


def _metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    user, rest = metadata.get("user_id"), without(metadata, "user_id")
    return ({} if user is None else {"user": user}) | ({"metadata": rest} if rest else {})


def _output(config: dict[str, Any]) -> dict[str, Any]:
    effort, form, rest = config.get("effort"), config.get("format"), without(config, "effort", "format")
    output: dict[str, Any] = {} if effort is None else {"reasoning_effort": effort}
    if form is not None:
        schema = {"name": _FORMAT_NAME, "schema": form["schema"], "strict": True}
        output["response_format"] = {"type": "json_schema", "json_schema": schema}
    return output | ({"output_config": rest} if rest else {})


def _system(system: str | list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    return [{"role": "system", "content": system}] if system else []


def _messages(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for message in messages:
        content = message["content"]
        if isinstance(content, str):
            yield {"role": message["role"], "content": content}
        elif message["role"] == "assistant":
            yield to_chat_message(content)
        elif message["role"] == "system":
            yield {"role": "system", "content": content}
        else:
            yield from _user(content)


def _user(blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A turn of the user: results of tools are messages of their own, and what is said between them another."""
    said: list[dict[str, Any]] = []
    for block in blocks:
        if block["type"] != "tool_result":
            said.append(block)
            continue
        if said:
            yield {"role": "user", "content": to_content(said)}
            said = []
        yield _result(block)
    if said:
        yield {"role": "user", "content": to_content(said)}


def _result(block: dict[str, Any]) -> dict[str, Any]:
    content = to_content(block.get("content") or "")
    rest = without(block, "type", "tool_use_id")
    return rest | {"role": "tool", "tool_call_id": block["tool_use_id"], "content": content}
