"""From the body of a chat to a provider's Messages request. Spec: the Anthropic API reference, "Create a Message"."""

from typing import Any

from gateway.dialects.messages.fees import refuse_fees
from gateway.dialects.messages.parts import from_content, without
from gateway.dialects.messages.shape.chat_body import CHAT_ONLY, NO_WORD, ChatBody
from gateway.dialects.messages.speech import from_chat_message
from gateway.dialects.messages.tools import from_chat_choice, from_chat_tool
from gateway.errors import BadRequest
from gateway.wire.body import shaped

_PUT = frozenset({"messages", "max_tokens", "metadata", "tools", "tool_choice", "output_config", "service_tier"})
"""Fields of both that are put into other words."""

_TIERS = {"auto": "auto", "default": "standard_only"}
_EFFORTS = {"minimal": "low"}
_LEADS = ("system", "developer")
_OF_GOOGLE = "extra_content"
"""What a Gemini model has sealed with a call, for itself alone."""


def to_messages(chat: dict[str, Any]) -> dict[str, Any]:
    """Return the Messages request that asks for what the body of a chat asks for.

    Thinking without a signature is left out: another model has thought it, and this one cannot read it.

    Raises:
        BadRequest: a field cannot be said in this dialect; `param` is its path.
    """
    fields = shaped(chat, ChatBody)
    refuse_fees(chat)
    for name, value in chat.items():
        if name in NO_WORD and value is not None and value not in NO_WORD[name]:
            raise BadRequest(f"{name!r} cannot be said to a provider of the Messages API.", param=name)
    said = {name: value for name, value in chat.items() if value is not None}
    most = fields.max_completion_tokens or fields.max_tokens
    if most is None:
        raise BadRequest("'max_tokens' is missing.", param="max_tokens")
    lead = next((i for i, m in enumerate(said["messages"]) if m["role"] not in _LEADS), len(said["messages"]))
    body = without(said, *_PUT, *CHAT_ONLY) | {"max_tokens": most}
    body |= _system(said["messages"][:lead])
    body["messages"] = _turns(said["messages"], lead)
    if fields.stop is not None:
        body["stop_sequences"] = [fields.stop] if isinstance(fields.stop, str) else fields.stop
    user = fields.safety_identifier or fields.user
    if user is not None:
        body["metadata"] = {"user_id": user}
    return body | _tools(said) | _output(said) | _tier(fields.service_tier)


def _system(messages: list[dict[str, Any]]) -> dict[str, Any]:
    contents = [message["content"] for message in messages]
    if not contents:
        return {}
    return {"system": contents[0] if len(contents) == 1 else [block for one in contents for block in _as_blocks(one)]}


def _turns(messages: list[dict[str, Any]], lead: int) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = []
    answers_tools = False
    for index in range(lead, len(messages)):
        turn = _turn(messages[index], f"messages[{index}]")
        if answers_tools and turn["role"] == "user":  # results and what the user says to them are one turn
            turns[-1]["content"] += _as_blocks(turn["content"])
        else:
            turns.append(turn)
        answers_tools = turn["role"] == "user" and (answers_tools or messages[index]["role"] == "tool")
    return turns


def _turn(message: dict[str, Any], path: str) -> dict[str, Any]:
    match message["role"]:
        case "assistant":
            return {"role": "assistant", "content": _spoken(message, path)}
        case "tool":
            rest = without(message, "role", "tool_call_id", "content", "name")
            result = {"type": "tool_result", "tool_use_id": message["tool_call_id"]}
            said = {"content": from_content(message["content"], f"{path}.content")}
            return {"role": "user", "content": [rest | result | said]}
        case "user":
            return {"role": "user", "content": from_content(message["content"], f"{path}.content")}
        case _:
            return {"role": "system", "content": message["content"]}


def _spoken(message: dict[str, Any], path: str) -> str | list[dict[str, Any]]:
    content = message.get("content") or message.get("refusal") or ""
    said = message | {"content": from_content(content, f"{path}.content")}
    blocks = [
        without(block, _OF_GOOGLE)
        for block in from_chat_message(said)
        if block["type"] != "thinking" or block["signature"]
    ]
    plain = isinstance(content, str) and all(block == {"type": "text", "text": content} for block in blocks)
    return content if plain else blocks


def _as_blocks(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content else []


def _tools(said: dict[str, Any]) -> dict[str, Any]:
    tools = [from_chat_tool(tool, f"tools[{index}]") for index, tool in enumerate(said.get("tools", []))]
    choice = from_chat_choice(said.get("tool_choice"), parallel=said.get("parallel_tool_calls"))
    if not tools:
        return {} if said.get("tool_choice") is None else {"tool_choice": choice}
    return {"tools": tools} | ({} if choice is None else {"tool_choice": choice})


def _output(said: dict[str, Any]) -> dict[str, Any]:
    effort, config = said.get("reasoning_effort"), dict(said.get("output_config", {}))
    thinking: dict[str, Any] = {}
    if effort == "none":
        thinking = {"thinking": said.get("thinking", {"type": "disabled"})}
    elif effort is not None:
        config["effort"] = _EFFORTS.get(effort, effort)
    schema = _schema(said.get("response_format", {"type": "text"}))
    if schema is not None:
        config["format"] = {"type": "json_schema", "schema": schema}
    return thinking | ({"output_config": config} if config else {})


def _schema(form: dict[str, Any]) -> dict[str, Any] | None:
    if form.get("type") == "text":
        return None
    asked = form.get("json_schema")
    named: dict[str, Any] = asked if isinstance(asked, dict) else {}
    schema = named.get("schema")
    if form.get("type") != "json_schema" or not isinstance(schema, dict):
        text = "This provider answers in JSON only by a schema: use the type 'json_schema' with its 'schema'."
        raise BadRequest(text, param="response_format")
    about = {"description": named["description"]} if isinstance(named.get("description"), str) else {}
    return about | schema  # its name and its strictness Messages has no word for: every schema there is strict


def _tier(tier: str | None) -> dict[str, Any]:
    if tier is None:
        return {}
    if tier not in _TIERS:
        raise BadRequest(f"The service tier {tier!r} cannot be asked of this provider.", param="service_tier")
    return {"service_tier": _TIERS[tier]}
