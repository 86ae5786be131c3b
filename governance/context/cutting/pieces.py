"""Divide a text into pieces that may be left out each by itself: sentences, lines, records, and code only whole.

Leaving out whole sentences or chunks keeps answers better than leaving out words: "Characterizing Prompt Compression
Methods for Long Context Inference" (arXiv 2407.08892), "Context-Aware Prompt Compression" (arXiv 2409.01227).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import msgspec

from governance.context.marking import ITEM

if TYPE_CHECKING:
    from collections.abc import Iterator

_BREAK: Final = re.compile(
    r"(?P<fence>^(?P<mark>```|~~~).*?^(?P=mark)[^\S\n]*$\n?)|(?P<gap>\n[^\S\n]*(?:\n[^\S\n]*)+)",
    re.DOTALL | re.MULTILINE,
)
_SENTENCE: Final = re.compile(
    r"""(?<=[.!?])["')\]]*\s+(?=["'(\[]?[A-Z0-9])"""  # the next sentence
    r"""|\n(?=\s*(?:[-*#|<>{\[("$+\d]|[A-Z]{2,}\b|[\w.]+[=:]))"""  # a line that begins anew: a list, a log, a field
    r"""|(?<=[.!?:;,}\])>])\n"""  # a line that ended
    r"""|[\u3002\uff01\uff1f]\s*"""
)
_CODE_LINE: Final = re.compile(
    r"[;{}]\s*$|^\s*(?:def|class|import|from|return|elif|else|try|except|for .* in|while|function|const|let|var|"
    r"public|private|static|#include|@\w+)\b.*|^(?: {4}|\t)\s*\S"
)
_TAG: Final = re.compile(r"\s*(?:</?[A-Za-z_][^<>]*>\s*)+|\s*```.*|\s*#{1,6} .*")
_CODE: Final = 0.4
_STRING: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
_FRAME: Final = re.compile(r"^[\W\d]*(?:[A-Z]{4,8}\b[\s:\]]*)?")
_DIGITS: Final = re.compile(r"\d+")
_CHUNK: Final = 40
"""Words of the longest text that is compared by meaning at once."""

_LONG: Final = 12
"""Words that make a paragraph long enough to be divided."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text.

    Attributes:
        start: Where it begins.
        end: Where the next begins.
        stays: It holds others together, such as a heading or a mark, and is not left out by itself.
        record: It is one of a JSON array: those that are kept are joined by commas, and what was between them is not.
        item: Which of several documents beside each other it is in; -1 for none.
    """

    start: int
    end: int
    stays: bool = False
    record: bool = False
    item: int = -1


def pieces_of(text: str) -> list[Piece]:
    """Return the pieces of a text in order; together they are all of it, but for what parts the records of JSON."""
    found = _records(text) if text.lstrip()[:1] in {"[", "{"} else None
    if found is not None:
        return found
    pieces: list[Piece] = []
    at = 0
    for item, match in enumerate(ITEM.finditer(text) if "</" in text else ()):
        start, end = match.span("inside")
        pieces += _plain(text, at, match.start())
        inside = [
            Piece(match.start(), start, stays=True),
            *_plain(text, start, end),
            Piece(end, match.end(), stays=True),
        ]
        pieces += [replace(piece, item=item) for piece in inside]
        at = match.end()
    return [*pieces, *_plain(text, at, len(text))]


def _plain(text: str, at: int, end: int) -> Iterator[Piece]:
    for match in _BREAK.finditer(text, at, end):
        if match["fence"] is not None:
            yield from _paragraph(text, at, match.start())
            yield Piece(match.start(), match.end())
        else:
            yield from _paragraph(text, at, match.end())
        at = match.end()
    yield from _paragraph(text, at, end)


def chunks_of(piece: str) -> list[str]:
    """Return the texts by which a piece is compared in meaning: its sentences, without what frames them.

    A long piece says many things, and one vector of all of them is near to none. What differs in its digits alone, as
    lines of a log do, is the same text.
    """
    strings = _STRING.findall(piece) if piece.lstrip()[:1] in {"{", "["} else [piece]
    sentences = [sentence for string in strings for sentence in _SENTENCE.split(string)]
    plain = [_DIGITS.sub("0", _FRAME.sub("", sentence)).strip() for sentence in sentences if sentence]
    parts = [
        " ".join(words[at : at + _CHUNK])
        for one in plain
        for words in [one.split()]
        for at in range(0, len(words), _CHUNK)
    ]
    return [part for part in parts if any(map(str.isalpha, part))]


def is_json(text: str) -> bool:
    """Say whether a text is one JSON array or object."""
    if text.lstrip()[:1] not in {"[", "{"}:
        return False
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return False
    return True


def _records(text: str) -> list[Piece] | None:
    """Return a JSON text as the records of its longest array; whole where it has none; None where it is no JSON."""
    try:
        raw = text.encode()
        values = (
            list(msgspec.json.decode(raw, type=dict[str, msgspec.Raw]).values()) if raw.lstrip()[:1] == b"{" else [raw]
        )
        arrays = [bytes(value) for value in values if bytes(value).lstrip()[:1] == b"["]
        longest = max(arrays, key=len, default=b"[]")
        records = [bytes(record).decode() for record in msgspec.json.decode(longest, type=list[msgspec.Raw])]
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None
    if len(records) < 2:  # noqa: PLR2004  one record alone is all there is
        return [Piece(0, len(text), stays=True)]
    at = text.index(longest.decode())
    found = [Piece(0, text.index(records[0], at), stays=True)]
    for record in records:
        start = text.index(record, found[-1].end)
        found.append(Piece(start, start + len(record), record=True))
    return [*found, Piece(found[-1].end, len(text), stays=True)]


def _paragraph(text: str, start: int, end: int) -> Iterator[Piece]:
    inside = text[start:end]
    if not inside:
        return
    if not inside.strip() or _TAG.fullmatch(inside):
        yield Piece(start, end, stays=True)
        return
    if len(inside.split(None, _LONG)) <= _LONG and "\n" not in inside.strip():
        yield Piece(start, end)
        return
    if _looks_like_code(inside):
        yield Piece(start, end)
        return
    at = start
    for match in _SENTENCE.finditer(text, start, end):
        if match.end() > at and text[match.end() : end].strip():
            yield Piece(at, match.end(), stays=_TAG.fullmatch(text, at, match.end()) is not None)
            at = match.end()
    yield Piece(at, end, stays=_TAG.fullmatch(text, at, end) is not None)


def _looks_like_code(paragraph: str) -> bool:
    lines = [line for line in paragraph.splitlines() if line.strip()]
    return len(lines) > 1 and sum(map(bool, map(_CODE_LINE.search, lines))) >= _CODE * len(lines)
