"""Fields of a request that can change what it costs or which model answers, beyond what governance reads.

A hold covers the answer that was priced. A field that swaps the model, adds a fee, lifts the bound on the answer or
moves the request to a dearer rate would leave the hold behind, so such fields are refused by name rather than passed
on. Providers disagree on names and some match them without case, so a governed name in other letters is refused too.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.dialects.messages.fees import CLIENT_TOOLS
from gateway.errors import BadRequest

GOVERNED = frozenset(
    {"model", "messages", "input", "n", "stream", "stream_options", "max_tokens", "max_completion_tokens", "stop",
     "tools", "functions", "user", "metadata", "cache", "cache_salt"}
)  # fmt: skip
"""What we read or set ourselves, spelled so and in no other way."""

_PRICED: Mapping[str, tuple[tuple[type, object], ...]] = {
    "service_tier": ((str, "auto"), (str, "default"), (str, "flex")),
    "web_search_options": (),
    "search_parameters": (),
    "data_sources": (),
    "datasources": (),
    "enable_search": ((bool, False),),
    "chat_template": (),
    "mm_processor_kwargs": (),
    "prediction": (),
    "audio": (),
    "modalities": ((list, ["text"]),),
    "models": (),
    "provider": (),
    "plugins": (),
    "route": (),
    "best_of": ((int, 1),),
    "use_beam_search": ((bool, False),),
    "n_predict": (),
    "num_predict": (),
    "max_new_tokens": (),
    "max_output_tokens": (),
    "priority": (),
    "request_id": (),
    "kv_transfer_params": (),
}
"""Field and the values of it, with their types, that change nothing; null never does."""

_TOOLS = frozenset({"function", "custom"})
"""Kinds of tools that their caller runs; but for those that a provider defines and its caller runs, a provider runs the
others, at a fee of its own."""

_UNPRICED_PARTS = frozenset({"audio_url", "video_url", "video"})


def refuse_priced_fields(body: Mapping[str, Any]) -> None:
    """Refuse a body that could cost more than it will be held for.

    Raises:
        BadRequest: with the field's name.
    """
    for name, value in body.items():
        lowered = name.casefold()  # as the JSON of Go matches names, for which the long s is an s
        if lowered in GOVERNED and name != lowered:
            raise BadRequest(f"{lowered!r} must be written in small letters.", param=lowered)
        if lowered in _PRICED and value is not None and (type(value), value) not in _PRICED[lowered]:
            raise BadRequest(f"{lowered!r} can change the price or the model of a request and is not allowed.", lowered)


def refuse_tools_of_providers(tools: object) -> None:
    """Refuse tools that the provider would run itself, such as a web search.

    Raises:
        BadRequest: with the tool's path.
    """
    listed: list[Any] = tools if isinstance(tools, list) else []
    for index, tool in enumerate(listed):
        kind: Any = tool.get("type", "function") if isinstance(tool, dict) else "function"
        if not isinstance(kind, str) or (kind not in _TOOLS and not kind.startswith(CLIENT_TOOLS)):
            path = f"tools[{index}].type"
            raise BadRequest("Tools that a provider runs have no price here: use 'function' or 'custom'.", param=path)


def refuse_unpriced_parts(messages: Sequence[Mapping[str, Any]]) -> None:
    """Refuse film in messages, and sound that is elsewhere: nobody can tell before the bill how long they are.

    Raises:
        BadRequest: with the part's path.
    """
    for index, message in enumerate(messages):
        if message.get("audio") is not None:
            text = "Sound that a provider keeps cannot be held for: send it as 'input_audio'."
            raise BadRequest(text, param=f"messages[{index}].audio")
        content = message.get("content")
        for place, part in enumerate(content if isinstance(content, list) else ()):
            if part.get("type") in _UNPRICED_PARTS:
                path = f"messages[{index}].content[{place}].type"
                raise BadRequest("Film, and sound behind an address, cannot be held for: they are not allowed.", path)
