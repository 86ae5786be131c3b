"""A chat as a provider knows it that speaks nothing else: without what other dialects have put into it."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.dialects.messages import BETAS
from gateway.errors import BadRequest

_FIELDS: Final = frozenset(
    {"audio", "cache_salt", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs",
     "max_completion_tokens", "max_tokens", "messages", "metadata", "modalities", "model", "moderation", "n",
     "parallel_tool_calls", "prediction", "presence_penalty", "prompt_cache_key", "prompt_cache_options",
     "prompt_cache_retention", "reasoning_effort", "response_format", "safety_identifier", "seed", "service_tier",
     "stop", "store", "stream", "stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p",
     "user", "verbosity", "web_search_options"}
)  # fmt: skip
"""What a chat may hold."""

_HINTS: Final = frozenset(
    {BETAS, "cache_control", "context_management", "include", "output_config", "reasoning", "thinking", "truncation"}
)
"""What another dialect may ask for that a chat has no word for, and whose absence leaves the answer what it is."""

_OF_MESSAGE: Final = frozenset(
    {"cache_control", "is_error", "layout", "phase", "reasoning_content", "reasoning_items", "thinking_blocks"}
)
_THOUGHT: Final = "reasoning_content"
_OF_CALL: Final = frozenset({"id", "type", "function", "custom"})
_OF_TOOL: Final = frozenset({"type", "function", "custom"})


def plain(body: Mapping[str, Any], known: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the body without what only another dialect knows: marks for caches, thoughts of other models, layouts.

    Fields that are `known` to the provider beyond those of a chat stay. Of thoughts those are left that nobody has
    signed, since they are what a provider without signatures has thought.

    Raises:
        BadRequest: something it asks for cannot be said in a chat; `param` is its name.
    """
    for name, value in body.items():
        if value is not None and name not in _FIELDS | _HINTS | known:
            raise BadRequest(f"{name!r} cannot be said to this model's provider: leave it out.", param=name)
    said = {name: value for name, value in body.items() if name in _FIELDS | known}
    said["messages"] = [_message(message, known) for message in body["messages"]]
    if body.get("tools"):
        said["tools"] = [_only(tool, _OF_TOOL) for tool in body["tools"]]
    return said


def _message(message: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    said = {name: value for name, value in message.items() if name not in _OF_MESSAGE}
    if _THOUGHT in known and (thought := _thought(message)):
        said[_THOUGHT] = thought
    if isinstance(said.get("content"), list):
        said["content"] = [_part(part) for part in said["content"]]
    if said.get("tool_calls"):
        said["tool_calls"] = [_only(call, _OF_CALL) for call in said["tool_calls"]]
    return said


def _thought(message: Mapping[str, Any]) -> str:
    unsigned = [block for block in message.get("thinking_blocks") or [] if not block.get("signature")]
    texts = [message.get(_THOUGHT), *(block.get("thinking") for block in unsigned)]
    return next((text for text in texts if text), "")


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in part.items() if name not in {"cache_control", "citations"}}


def _only(fields: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name in known}
