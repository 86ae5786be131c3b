"""Every text of a request: not only what people typed, but all that travels with it.

A body is walked whole, so that a field nobody has heard of is read like any other. Documents in base64 are read where
they are text; what cannot be read is named, for whoever must decide about it.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from typing import TYPE_CHECKING, Any, Final

from governance.sensitivity.views import is_text

if TYPE_CHECKING:
    from collections.abc import Iterator

_DATA: Final = "data:"
_HELD: Final = frozenset({"data", "file_data", "url", "b64_json"})
"""Fields whose text may be a document in base64."""

_SHORTEST: Final = 16
_BASE64: Final = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")
_TEXTUAL: Final = ("text/", "application/json", "application/xml", "application/yaml", "application/x-ndjson")


def texts_of(body: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text of a body with its place, such as `messages[2].content[0].text`; names of fields as well."""
    if isinstance(body, str):
        yield where, _document(body, where) or body
    elif isinstance(body, dict):
        for name, value in body.items():
            place = f"{where}.{name}" if where else str(name)
            if not str(name).isidentifier() or len(str(name)) > _NAME:
                yield f"{where}.*", str(name)
            yield from texts_of(value, place)
    elif isinstance(body, list | tuple):
        for number, value in enumerate(body):
            yield from texts_of(value, f"{where}[{number}]")
    elif isinstance(body, int | float) and not isinstance(body, bool) and abs(body) >= _NUMBER:
        yield where, str(body)


def unread_of(body: Any, where: str = "") -> Iterator[str]:
    """Yield the places of what nobody here can read: pictures, sound, other documents, and addresses of such."""
    if isinstance(body, str):
        held = _is_held(where) and (body.startswith(_DATA) or _is_coded(body, where))
        if (held and _document(body, where) is None) or (
            where.endswith((".image_url.url", ".file_url", ".image_url")) and not body.startswith(_DATA)
        ):
            yield where
    elif isinstance(body, dict):
        for name, value in body.items():
            yield from unread_of(value, f"{where}.{name}" if where else str(name))
    elif isinstance(body, list | tuple):
        for number, value in enumerate(body):
            yield from unread_of(value, f"{where}[{number}]")


_NAME: Final = 40
_NUMBER: Final = 1_000_000
"""Smaller numbers are no card, telephone or id."""


def _is_held(where: str) -> bool:
    return where.rpartition(".")[2] in _HELD


def _document(text: str, where: str) -> str | None:
    """Return the text of a document in base64; None for what is no document, or none of text."""
    if text.startswith(_DATA):
        head, comma, rest = text.partition(",")
        if not comma or not head[len(_DATA) :].startswith(_TEXTUAL):
            return None
        return _decoded(rest) if head.endswith(";base64") else rest
    return _decoded(text) if _is_coded(text, where) else None


def _is_coded(text: str, where: str) -> bool:
    """Say whether a field holds bytes, by its name and its letters: words have others among them sooner or later."""
    return _is_held(where) and len(text) >= _SHORTEST and _BASE64.fullmatch(text) is not None


def _decoded(text: str) -> str | None:
    try:
        said = b64decode(text, validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    return said if is_text(said) else None
