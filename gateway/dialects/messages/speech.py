"""What the model says: the blocks of an assistant's turn and the message of a chat, each from the other.

A chat message has no order among its thinking, its text and its calls. Blocks in the plain order (thinking, then text,
then calls) need none; for others `layout` keeps it. A layout that does not fit the message, because somebody has edited
that, is passed over, and the plain order holds.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec

from gateway.dialects.messages.parts import without
from gateway.wire.fold import objects

THINKING, TEXT, CALL = "thinking", "text", "tool_use"
KINDS = {"thinking": THINKING, "redacted_thinking": THINKING, "text": TEXT, "tool_use": CALL}
"""The kinds of blocks that a layout tells apart."""

_PLAIN = (THINKING, TEXT, CALL)
_BROKEN = "INVALID_JSON"
"""Under this name Anthropic asks for arguments that are not an object of JSON."""


def plain_after(kind: str, before: str | None) -> bool:
    """Whether a block of this kind may follow one of the kind before without a layout that says so."""
    return before is None or _PLAIN.index(kind) >= _PLAIN.index(before)


def to_chat_message(blocks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the assistant's message of a chat that says what `blocks` say."""
    kinds = [KINDS[block["type"]] for block in blocks]
    thoughts, texts, calls = ([b for b, k in zip(blocks, kinds, strict=True) if k == kind] for kind in _PLAIN)
    message: dict[str, Any] = {"role": "assistant", "content": texts or (None if calls else "")}
    if len(texts) == 1 and len(blocks) > 1 and texts[0].keys() == {"type", "text"}:
        message["content"] = texts[0]["text"]
    if thoughts:
        message["thinking_blocks"] = thoughts
    if calls:
        message["tool_calls"] = [_to_call(call) for call in calls]
    if not all(plain_after(kind, before) for before, kind in pairwise(kinds)):
        message["layout"] = [{"type": kind} for kind in kinds]
    return message


def from_chat_message(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the blocks of a turn that say what the assistant's `message` of a chat says.

    Thinking that no signature came with is a block with an empty one.
    """
    blocks = objects(message.get("thinking_blocks"))
    thoughts = [without(block, "index") for block in blocks if KINDS.get(str(block.get("type"))) == THINKING]
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    if not thoughts and isinstance(reasoning, str) and reasoning:
        thoughts = [{"type": "thinking", "thinking": reasoning, "signature": ""}]
    calls = [_from_call(call) for call in objects(message.get("tool_calls"))]
    content, layout = message.get("content"), _entries(message.get("layout"))
    if isinstance(content, list):
        texts = [part for part in objects(content) if part.get("type") == "text"]
    else:
        texts = _cut(content if isinstance(content, str) else "", [entry for entry in layout if entry["type"] == TEXT])
    in_order = _in_order([entry["type"] for entry in layout], {THINKING: thoughts, TEXT: texts, CALL: calls})
    return [block for block in in_order if block["type"] != "text" or block["text"] or isinstance(content, list)]


def input_of(arguments: str) -> dict[str, Any]:
    """Return the input of a call; what is no object of JSON, as when an answer was cut, is kept as text inside one."""
    try:
        value = msgspec.json.decode(arguments or "{}")
    except (msgspec.DecodeError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {_BROKEN: arguments}


def arguments_of(value: dict[str, Any]) -> str:
    """Return the arguments of a call as chat has them."""
    return msgspec.json.encode(value).decode()


def _to_call(block: dict[str, Any]) -> dict[str, Any]:
    function = {"name": block["name"], "arguments": arguments_of(block["input"])}
    return without(block, "name", "input") | {"type": "function", "function": function}


def _from_call(call: dict[str, Any]) -> dict[str, Any]:
    function = call.get("function")
    called: dict[str, Any] = function if isinstance(function, dict) else {}
    said = {"id": call.get("id") or "", "name": called.get("name") or ""}
    said["input"] = input_of(str(called.get("arguments") or ""))
    return without(call, "function", "index") | {"type": "tool_use"} | said


def _entries(layout: object) -> list[dict[str, Any]]:
    entries = objects(layout)
    return entries if all(entry.get("type") in _PLAIN for entry in entries) else []


def _cut(text: str, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cut a text into the pieces that a layout counts; a piece without a count takes all that is left."""
    pieces: list[dict[str, Any]] = []
    at = 0
    for entry in entries:
        chars = entry.get("chars", len(text) - at)
        if type(chars) is not int or not 0 <= chars <= len(text) - at:
            break
        cited = {"citations": entry["citations"]} if entry.get("citations") else {}
        pieces.append({"type": "text", "text": text[at : at + chars]} | cited)
        at += chars
    fits = at == len(text) and len(pieces) == len(entries)
    return pieces if fits else [{"type": "text", "text": text}]


def _in_order(kinds: list[str], blocks: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    plain = [block for kind in _PLAIN for block in blocks[kind]]
    if any(kinds.count(kind) != len(blocks[kind]) for kind in _PLAIN):
        return plain
    queues = {kind: iter(of_kind) for kind, of_kind in blocks.items()}
    return [next(queues[kind]) for kind in kinds]
