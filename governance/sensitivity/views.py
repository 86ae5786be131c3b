"""A text as a reader would take it: escapes undone, wide digits made plain, and encoded runs decoded.

Each view knows of every one of its characters where it came from, so that what is found in it can be pointed at in the
text as it was sent. All of it takes time in proportion to the text.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING, Final
from unicodedata import category, is_normalized, normalize
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_DEEPEST: Final = 3
"""How often a text may be encoded over again and still be read."""

_SHORTEST: Final = 8
"""Characters that a decoded run must have to hold anything."""

_ESCAPE: Final = re.compile(
    r"\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[nrt\"'/\\])"  # JSON and most programming languages
    r"|&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});"  # HTML
    r"|(?:%[0-9A-Fa-f]{2})+"  # RFC 3986
)
_RUN: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}+={0,2}")
_HEX: Final = re.compile(r"(?:[0-9A-Fa-f]{2})+")
_STRANGE: Final = re.compile(r"[\u00ad\u00b7\u061c\u180e\u200b-\u2015\u2024\u2060-\u2064\u2212\u3002\ufeff]")
_LETTERS: Final = {"n": "\n", "r": "\r", "t": "\t"}
_DASHES: Final = dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212\ufe58\ufe63\uff0d", "-")
_MARKS: Final = {"\u2024": ".", "\uff0e": ".", "\u3002": ".", "\ufe6b": "@", "\uff20": "@", "\u00b7": "."}
_PLAIN: Final = _DASHES | _MARKS


@dataclass(frozen=True, slots=True)
class View:
    """A text to look at.

    Attributes:
        text: What it says.
        starts: Where each of its characters begins in the text as it was sent; None where both are the same.
        ends: Where each ends there.
    """

    text: str
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of it is in the text as it was sent."""
        if self.starts is None or self.ends is None or start >= end:
            return start, end
        return self.starts[start], self.ends[end - 1]


def views(text: str, depth: int = _DEEPEST) -> Iterator[View]:
    """Yield a text made plain, and what is encoded in it."""
    plain = _normalised(_unescaped(View(text)))
    yield plain
    if depth:
        for start, end, said in _encoded(plain.text):
            first, last = plain.origin(start, end)
            for inner in views(said, depth - 1):
                # What is found in an encoded run is the whole run: a part of it would decode to something else.
                width = len(inner.text)
                yield View(inner.text, (first,) * width, (last,) * width)


def _normalised(view: View) -> View:
    """Undo what only looks different: NFKC by character, marks of no width, and dashes of other lengths."""
    if view.text.isascii() or (is_normalized("NFKC", view.text) and _STRANGE.search(view.text) is None):
        return view
    return _mapped(view, ((place, place + 1, _plain(char)) for place, char in enumerate(view.text)))


def _plain(char: str) -> str:
    if char.isascii():
        return char
    if category(char) == "Cf":
        return ""
    return _PLAIN.get(char) or normalize("NFKC", char)


def _unescaped(view: View) -> View:
    if not any(mark in view.text for mark in "\\&%") or _ESCAPE.search(view.text) is None:
        return view
    return _mapped(view, _pieces(view.text, _ESCAPE, _meaning))


def _pieces(text: str, pattern: re.Pattern[str], meaning: Callable[[str], str]) -> Iterator[tuple[int, int, str]]:
    """Yield the text in pieces: what matches by its meaning, all else character by character."""
    done = 0
    for match in pattern.finditer(text):
        yield from ((place, place + 1, text[place]) for place in range(done, match.start()))
        yield match.start(), match.end(), meaning(match[0])
        done = match.end()
    yield from ((place, place + 1, text[place]) for place in range(done, len(text)))


def _meaning(escape: str) -> str:
    if escape[0] == "&":
        return unescape(escape)
    if escape[0] == "%":
        return unquote(escape, errors="replace")
    if escape[1] in "ux":
        return bytes.fromhex(escape[2:].zfill(4)).decode("utf-16-be", "replace")
    return _LETTERS.get(escape[1], escape[1])


def _mapped(view: View, pieces: Iterator[tuple[int, int, str]]) -> View:
    said: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end, meaning in pieces:
        first, last = view.origin(start, end)
        said.append(meaning)
        starts.extend([first] * len(meaning))
        ends.extend([last] * len(meaning))
    return View("".join(said), starts, ends)


def _encoded(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield runs that decode to text, each with what it says."""
    for match in _RUN.finditer(text):
        run = match[0]
        said = _text(bytes.fromhex(run) if _HEX.fullmatch(run) else _from_base64(run))
        if said is not None:
            yield match.start(), match.end(), said


def _from_base64(run: str) -> bytes:
    letters = run.rstrip("=").translate(str.maketrans("-_", "+/"))
    if len(letters) % 4 == 1:
        return b""
    try:
        return b64decode(letters + "=" * (-len(letters) % 4), validate=True)
    except binascii.Error:
        return b""


def _text(data: bytes) -> str | None:
    """Return what bytes say where they are text; None where they are anything else."""
    if len(data) < _SHORTEST:
        return None
    try:
        said = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return said if is_text(said) else None


def is_text(said: str) -> bool:
    """Say whether something decoded is words and not bytes that happen to be letters: it has no control characters."""
    return all(char.isprintable() or char.isspace() or category(char) == "Cf" for char in said)
