"""Write a chat request as a provider of this API takes it: the inverse of `asking`.

Nothing is kept at the provider unless the request says so. What this API has no word for is refused by name.
"""

from collections.abc import Mapping
from typing import Any

from gateway.dialects.messages import BETAS
from gateway.dialects.responses.asking import LOGPROBS, REASONING, refuse_stored
from gateway.dialects.responses.shape.chat import ChatShape
from gateway.dialects.responses.tools import from_chat_choice, from_chat_format, from_chat_tools
from gateway.dialects.responses.turns import to_items
from gateway.errors import BadRequest
from gateway.wire.body import shaped

_NO_WORD: Mapping[str, tuple[object, ...]] = {
    "n": (1,),
    "stop": ([],),
    "seed": (),
    "logit_bias": ({},),
    "frequency_penalty": (0,),
    "presence_penalty": (0,),
    "prediction": (),
    "audio": (),
    "modalities": (["text"],),
    "web_search_options": (),
    "functions": ([],),
    "function_call": (),
}
"""Fields that this API lacks, and the values that ask for nothing."""

_HINTS = frozenset({BETAS, "cache_control", "output_config", "thinking"})
"""What Messages may ask for that this API has no word for, and whose absence leaves the answer what it is."""

_SAID_OTHERWISE = frozenset(
    {"messages", "max_completion_tokens", "max_tokens", "tools", "tool_choice", "response_format", "verbosity",
     "reasoning_effort", "reasoning", "include", "logprobs", "stream_options", "store"}
)  # fmt: skip


def to_responses(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return `body` as a request to this API; what neither has heard of keeps its name.

    Raises:
        BadRequest: with the path of the first field that this API has no word for.
    """
    shaped(body, ChatShape)
    said = {name: value for name, value in body.items() if value is not None}
    for name, neutral in _NO_WORD.items():
        if name in said and said[name] not in neutral:
            raise BadRequest(f"This model's provider does not offer {name!r}: leave it out.", name)
    if isinstance(said.get("context_management"), dict):  # as Messages has it, for a model of its own
        del said["context_management"]
    unsaid = _SAID_OTHERWISE | _HINTS | _NO_WORD.keys()
    asked = {name: value for name, value in said.items() if name not in unsaid}
    for name, value in asked.items():
        refuse_stored(name, value)
    asked |= {"store": bool(said.get("store"))} | _input(said["messages"]) | _text(said) | _reasoning(said)
    limit = said.get("max_completion_tokens", said.get("max_tokens"))
    if limit is not None:
        asked["max_output_tokens"] = limit
    if "tools" in said:
        asked["tools"] = from_chat_tools(said["tools"])
    if "tool_choice" in said:
        asked["tool_choice"] = from_chat_choice(said["tool_choice"])
    include = [*said.get("include", ()), *([LOGPROBS] if said.get("logprobs") else ())]
    options = {name: value for name, value in said.get("stream_options", {}).items() if name != "include_usage"}
    return asked | ({"include": include} if include else {}) | ({"stream_options": options} if options else {})


def _input(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Say what the system says first as `instructions`, and everything else as items."""
    first = messages[0]
    if first.keys() == {"role", "content"} and first["role"] == "system" and isinstance(first["content"], str):
        return {"instructions": first["content"], "input": list(to_items(messages, start=1))}
    return {"input": list(to_items(messages))}


def _text(said: Mapping[str, Any]) -> dict[str, Any]:
    text = {"format": from_chat_format(said["response_format"])} if "response_format" in said else {}
    text |= {"verbosity": said["verbosity"]} if "verbosity" in said else {}
    return {"text": text} if text else {}


def _reasoning(said: Mapping[str, Any]) -> dict[str, Any]:
    reasoning = dict(said.get("reasoning", {}))
    for name in reasoning:
        if name not in REASONING:
            message = f"This model's provider does not offer {name!r} in 'reasoning': leave it out."
            raise BadRequest(message, f"reasoning.{name}")
    reasoning |= {"effort": said["reasoning_effort"]} if "reasoning_effort" in said else {}
    return {"reasoning": reasoning} if reasoning else {}
