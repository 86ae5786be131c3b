"""What stands in a turn: the blocks of Messages, written as those of Converse.

Spec: the Amazon Bedrock API reference, `ContentBlock`, `ToolResultContentBlock` and `SystemContentBlock`. Where
Messages marks a block to be cached up to it, Converse has a block after it that says so.
"""

from typing import Any

from gateway.dialects.converse.citations import from_citation
from gateway.dialects.converse.documents import to_document, to_image
from gateway.dialects.messages.parts import without
from gateway.errors import BadRequest
from gateway.wire.fold import objects

Blocks = list[dict[str, Any]]

_CACHED = "cache_control"
_FIELDS = {
    "text": ("type", "text", "citations"),
    "image": ("type", "source"),
    "document": ("type", "source", "title", "context", "citations"),
    "search_result": ("type", "source", "title", "content", "citations"),
}
"""What parts of a content may say; a field beyond that is refused."""

_TTLS = (None, "5m", "1h")


def to_blocks(content: str | Blocks, path: str) -> Blocks:
    """Return the blocks of Converse that say what the content of Messages at `path` says; empty text says nothing.

    Raises:
        BadRequest: a block cannot be said; `param` is its path.
    """
    if isinstance(content, str):
        return [{"text": content}] if content else []
    return [said for index, block in enumerate(content) for said in _to_blocks(block, f"{path}[{index}]")]


def cache_point(marked: dict[str, Any], path: str) -> Blocks:
    """Return the block that says to cache all before it, where `marked` asks for that in its field at `path`.

    Raises:
        BadRequest: it asks in a way that is not known.
    """
    asked = marked.get(_CACHED)
    if asked is None:
        return []
    if not isinstance(asked, dict) or asked.get("type") != "ephemeral" or asked.get("ttl") not in _TTLS:
        raise BadRequest(f"{_CACHED!r} is of the type 'ephemeral', for '5m' or '1h'.", param=path)
    return [{"cachePoint": {"type": "default"} | ({} if asked.get("ttl") is None else {"ttl": asked["ttl"]})}]


def _to_blocks(block: dict[str, Any], path: str) -> Blocks:
    if block["type"] == "text" and not block["text"]:
        return []
    return [_to_block(block, path), *cache_point(block, f"{path}.{_CACHED}")]


def _to_block(block: dict[str, Any], path: str) -> dict[str, Any]:
    if block["type"] in _FIELDS:
        _refuse_beyond(block, path, _FIELDS[block["type"]])
    match block["type"]:
        case "text":
            said = _to_text(block)
        case "image":
            said = {"image": to_image(block["source"], path)}
        case "document":
            said = {"document": to_document(block, path)}
        case "search_result":
            texts = [{"text": part["text"]} for part in block["content"]]
            said = {"searchResult": without(block, "type", "content", _CACHED) | {"content": texts}}
        case "tool_use":
            said = {"toolUse": {"toolUseId": block["id"], "name": block["name"], "input": block["input"]}}
        case "thinking" | "redacted_thinking":
            said = {"reasoningContent": _to_reasoning(block)}
        case kind:
            raise BadRequest(f"A part of the type {kind!r} cannot be said here.", param=f"{path}.type")
    return said


def _refuse_beyond(value: dict[str, Any], path: str, names: tuple[str, ...]) -> None:
    for name, said in value.items():
        if said is not None and name not in names and name != _CACHED:
            raise BadRequest(f"{name!r} cannot be said to a provider of the Converse API.", param=f"{path}.{name}")


def _to_text(block: dict[str, Any]) -> dict[str, Any]:
    citations = [from_citation(one) for one in objects(block.get("citations"))]
    if not citations:
        return {"text": block["text"]}
    return {"citationsContent": {"content": [{"text": block["text"]}], "citations": citations}}


def _to_reasoning(block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] == "redacted_thinking":
        return {"redactedContent": block["data"]}
    return {"reasoningText": {"text": block["thinking"], "signature": block["signature"]}}
