"""The texts of a request's body, wherever they are."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any, Final

from gateway.wire.fold import REPEATED, objects
from governance.sensitivity import texts_of

_HELD: Final = frozenset({"data", "file_data", "url", "b64_json"})
"""Fields that may hold a whole document."""

_ADDRESS: Final = ("http:", "https:")

_OURS: Final = frozenset({"model", "user", "metadata", "cache"})
"""Fields of a body that are addressed to us: no provider is told what they say."""

STRUCTURE: Final = REPEATED | {
    "call_id", "data", "detail", "encrypted_content", "file_id", "media_type", "mime_type", "signature", "tool_call_id",
}  # fmt: skip
"""Names of what is no text: references, marks, and bytes in base64."""

ARGUMENTS: Final = "arguments"
"""The field of a call that is JSON within JSON."""

Rewrite = Callable[[str, bool], str]
"""Returns what stands in place of a text; the second argument says whether it is JSON."""


def rewritten(body: dict[str, Any], rewrite: Rewrite) -> dict[str, Any]:
    """Return a body with every text in it rewritten; what does not change is shared with it."""
    return {name: value if name in _OURS else _rewritten(value, name, rewrite) for name, value in body.items()}


def texts(body: dict[str, Any]) -> Iterator[str]:
    """Yield every text that `rewritten` would rewrite, in its order."""
    found = list[str]()

    def note(text: str, json: bool) -> str:
        del json
        found.append(text)
        return text

    rewritten(body, note)
    yield from found


def last_question(body: dict[str, Any]) -> str:
    """Return the text of the last turn of a user; empty when there is none."""
    turns = [message for message in objects(body.get("messages")) if message.get("role") == "user"]
    return _said(turns[-1]) if turns else ""


def new_texts(body: dict[str, Any]) -> list[str]:
    """Return the texts since the model spoke last: what the user says now, and what tools have returned."""
    fresh = list[str]()
    for message in reversed(objects(body.get("messages"))):
        if message.get("role") == "assistant":
            break
        if message.get("role") in {"user", "tool", "function"} and (said := _said(message)):
            fresh.append(said)
    return fresh


def _rewritten(value: Any, name: str, rewrite: Rewrite) -> Any:
    match value:
        case str() if name in _HELD or value.startswith("data:"):
            return _attached(value, name, rewrite)
        case str():
            return value if name in STRUCTURE else rewrite(value, name == ARGUMENTS)
        case list():
            return [_rewritten(part, name, rewrite) for part in value]
        case dict():
            return {key: _rewritten(part, key, rewrite) for key, part in value.items()}
        case _:
            return value


def _attached(value: str, name: str, rewrite: Rewrite) -> str:
    """Rewrite the text of a document that is within a body; what holds none is left as it is."""
    _, text = next(iter(texts_of(value, name)))
    if text is value:
        return rewrite(value, False) if value.startswith(_ADDRESS) else value  # noqa: FBT003  as a `Rewrite` has it
    new = rewrite(text, False)  # noqa: FBT003
    if new == text:
        return value
    head, comma, _ = value.partition(",") if value.startswith("data:") else ("", "", "")
    plain = bool(comma) and not head.endswith(";base64")
    return head + comma + (new if plain else b64encode(new.encode()).decode())


def _said(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in objects(content) if isinstance(part.get("text"), str))
