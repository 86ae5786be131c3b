"""From the body of a chat to a provider's Converse request.

Spec: the Amazon Bedrock API reference, `ConverseStream`.
"""

from typing import Any

import msgspec

from gateway.dialects.converse.blocks import Blocks, cache_point, to_blocks
from gateway.dialects.converse.documents import tell_apart
from gateway.dialects.converse.tools import to_tools
from gateway.dialects.messages import BETAS
from gateway.dialects.messages.fees import refuse_fees
from gateway.dialects.messages.parts import from_content
from gateway.dialects.messages.shape.chat_body import CHAT_ONLY, NO_WORD, ChatBody
from gateway.dialects.messages.speech import from_chat_message
from gateway.errors import BadRequest
from gateway.wire.body import shaped

_PUT = frozenset(
    {"cache_control", "max_tokens", "messages", "metadata", "model", "service_tier", "stream", "temperature",
     "tool_choice", "tools", "top_p"}
)  # fmt: skip
"""Fields that are put into other words, beside those of chat alone."""

_MODELS = frozenset({"context_management", "min_p", "reasoning_config", "repetition_penalty", "thinking", "top_k"})
"""Fields that go to the model as they are. Others would reach it as well, and each maker has its own names for what
lifts the bound on an answer or turns on what is billed otherwise, so what is not here is refused by name."""

_HINTS = frozenset({BETAS, "include", "output_config", "reasoning", "truncation"})
"""What another dialect may ask for that has no word here, and whose absence leaves the answer what it is."""

_KNOWN = _PUT | _MODELS | _HINTS | CHAT_ONLY
_TIERS = {"auto": None, "default": "default", "flex": "flex", "priority": "priority"}
_EFFORTS = {"minimal": "low"}
_LEADS = ("system", "developer")


def to_converse(chat: dict[str, Any], max_tokens: int) -> dict[str, Any]:
    """Return the Converse request that asks for what the body of a chat asks for; its model stands in the path.

    Thinking without a signature is left out: another model has thought it, and this one cannot read it.

    Args:
        chat: the body, without a bound on the answer.
        max_tokens: the most tokens of the answer.

    Raises:
        BadRequest: a field cannot be said in this dialect; `param` is its path.
    """
    fields = shaped(chat, ChatBody)
    _refuse(chat)
    said = {name: value for name, value in chat.items() if value is not None}
    lead = next((i for i, m in enumerate(said["messages"]) if m["role"] not in _LEADS), len(said["messages"]))
    turns = _turns(said["messages"], lead)
    if turns:
        turns[-1]["content"] += cache_point(said, "cache_control")
    tell_apart([document for turn in turns for document in _documents(turn["content"])])
    body: dict[str, Any] = {"messages": turns, "inferenceConfig": _inference(said, fields, max_tokens)}
    if system := [block for i in range(lead) for block in to_blocks(said["messages"][i]["content"], _content(i))]:
        body["system"] = system
    if fields.stop:
        body["additionalModelResponseFieldPaths"] = ["/stop_sequence"]
    called = any("toolUse" in block for turn in turns for block in turn["content"])
    return body | to_tools(said, called=called) | _output(said) | _tier(fields.service_tier) | _additional(said)


def _refuse(chat: dict[str, Any]) -> None:
    refuse_fees(chat)
    for name, value in chat.items():
        known = name in _KNOWN and name not in NO_WORD
        if value is not None and not known and value not in NO_WORD.get(name, ()):
            raise BadRequest(f"{name!r} cannot be said to a provider of the Converse API.", param=name)


def _content(index: int) -> str:
    return f"messages[{index}].content"


def _turns(messages: list[dict[str, Any]], lead: int) -> list[dict[str, Any]]:
    """The turns of the conversation, which go from one side to the other: what one side says in a row is one turn."""
    turns: list[dict[str, Any]] = []
    for index in range(lead, len(messages)):
        role, blocks = _turn(messages[index], _content(index))
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        elif blocks:
            turns.append({"role": role, "content": blocks})
    return turns


def _turn(message: dict[str, Any], path: str) -> tuple[str, Blocks]:
    match message["role"]:
        case "assistant":
            return "assistant", _spoken(message, path)
        case "tool":
            return "user", _result(message, path)
        case "user":
            return "user", to_blocks(from_content(message["content"], path), path)
        case _:
            return "system", to_blocks(message["content"], path)


def _spoken(message: dict[str, Any], path: str) -> Blocks:
    content = from_content(message.get("content") or message.get("refusal") or "", path)
    blocks = from_chat_message(message | {"content": content})
    return to_blocks([block for block in blocks if block["type"] != "thinking" or block["signature"]], path)


def _result(message: dict[str, Any], path: str) -> Blocks:
    content = to_blocks(from_content(message["content"], path), path)
    points = [block for block in content if "cachePoint" in block]  # a result holds none: it is cached as a whole
    result = {"toolUseId": message["tool_call_id"], "content": [block for block in content if block not in points]}
    cached = f"{path.removesuffix('content')}cache_control"
    failed = {"status": "error"} if message.get("is_error") else {}
    return [{"toolResult": result | failed}, *(cache_point(message, cached) or points[-1:])]


def _documents(blocks: Blocks) -> Blocks:
    inside = [part for block in blocks if "toolResult" in block for part in block["toolResult"]["content"]]
    return [block["document"] for block in [*blocks, *inside] if "document" in block]


def _inference(said: dict[str, Any], fields: ChatBody, max_tokens: int) -> dict[str, Any]:
    config: dict[str, Any] = {"maxTokens": max_tokens}
    config |= {ours: said[name] for name, ours in (("temperature", "temperature"), ("top_p", "topP")) if name in said}
    if fields.stop:
        config["stopSequences"] = [fields.stop] if isinstance(fields.stop, str) else fields.stop
    return config


def _output(said: dict[str, Any]) -> dict[str, Any]:
    effort, schema = said.get("reasoning_effort", "none"), _schema(said.get("response_format", {"type": "text"}))
    config: dict[str, Any] = {} if effort == "none" else {"effort": _EFFORTS.get(effort, effort)}
    if schema is not None:
        config["textFormat"] = {"type": "json_schema", "structure": {"jsonSchema": schema}}
    return {"outputConfig": config} if config else {}


def _schema(form: dict[str, Any]) -> dict[str, Any] | None:
    if form.get("type") == "text":
        return None
    asked = form.get("json_schema")
    named: dict[str, Any] = asked if isinstance(asked, dict) else {}
    if form.get("type") != "json_schema" or not isinstance(named.get("schema"), dict):
        text = "This provider answers in JSON only by a schema: use the type 'json_schema' with its 'schema'."
        raise BadRequest(text, param="response_format")
    about = {name: named[name] for name in ("name", "description") if isinstance(named.get(name), str)}
    return {"schema": msgspec.json.encode(named["schema"]).decode()} | about


def _tier(tier: str | None) -> dict[str, Any]:
    if tier is not None and tier not in _TIERS:
        raise BadRequest(f"The service tier {tier!r} cannot be asked of this provider.", param="service_tier")
    asked = None if tier is None else _TIERS[tier]
    return {} if asked is None else {"serviceTier": {"type": asked}}


def _additional(said: dict[str, Any]) -> dict[str, Any]:
    fields = {name: value for name, value in said.items() if name in _MODELS}
    if said.get("reasoning_effort") == "none":
        fields = {"thinking": {"type": "disabled"}} | fields
    return {"additionalModelRequestFields": fields} if fields else {}
