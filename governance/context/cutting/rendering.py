"""Put together what is kept of a text: gaps are marked, records stay JSON, and documents stand where they are seen."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from governance.context.cutting.edges import edged

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from governance.context.cutting.pieces import Piece

LEFT_OUT: Final = "[…]"
"""Stands where something was left out, so that what is left is not read as one."""

_FEWEST: Final = 3
"""Documents beside each other that have a middle."""


def rendered(text: str, pieces: Sequence[Piece], dropped: Collection[int], scores: Mapping[int, float]) -> str:
    """Return a text without some of its pieces.

    Args:
        text: The text.
        pieces: All of its pieces.
        dropped: The places of those that are left out.
        scores: How much the others have to do with the question, by place; where there are any, documents beside each
            other are ordered so that the best stand at the edges. Within a document nothing moves.
    """
    parts: list[str] = []
    slots: list[int] = []
    worth: list[float] = []
    gone = False
    for item, places in groupby(range(len(pieces)), key=lambda at: pieces[at].item):
        group = list(places)
        alive = [at for at in group if at not in dropped and not (pieces[at].stays and item >= 0)]
        if item >= 0 and not alive and any(at in dropped for at in group):
            gone = True
            continue  # all that the document said is left out, and its marks with it
        if item >= 0:
            slots.append(len(parts))
            worth.append(max((scores.get(at, 0.0) for at in alive), default=0.0))
        part = _joined(text, pieces, group, dropped)
        if not gone or part.strip():
            parts.append(part)
        gone = False
    if scores and len(slots) >= _FEWEST:
        order = edged(worth)
        moved = [parts[slots[at]] for at in order]
        for slot, part in zip(slots, moved, strict=True):
            parts[slot] = part
    return "".join(parts)


def rebuilt(message: Mapping[str, Any], at: int, made: Mapping[tuple[int, int | None], str]) -> Mapping[str, Any]:
    """Return message number `at` with the texts made of its own, by message and part; itself if none changed."""
    content = message.get("content")
    if isinstance(content, str):
        text = made.get((at, None), content)
        return message if text == content else {**message, "content": text if text.strip() else LEFT_OUT}
    if not isinstance(content, list):
        return message
    texts = {part: text for (place, part), text in made.items() if place == at}
    if all(content[part].get("text") == text for part, text in texts.items() if part is not None):
        return message
    parts = [
        part | {"text": texts[n] if texts[n].strip() else LEFT_OUT} if n in texts else part
        for n, part in enumerate(content)
    ]
    return {**message, "content": parts}


def _joined(text: str, pieces: Sequence[Piece], places: Sequence[int], dropped: Collection[int]) -> str:
    out: list[str] = []
    gap = recorded = False
    for at in places:
        piece = pieces[at]
        words = text[piece.start : piece.end]
        if at in dropped:
            if not (gap or piece.record):
                out.append(LEFT_OUT)
            gap = not piece.record
            if gap and (space := words[len(words.rstrip()) :]):
                out.append(space if out[-1] == LEFT_OUT else "")
            continue
        if gap and not words.strip():
            continue
        if piece.record and recorded:
            out.append(",")
        recorded = piece.record
        gap = False
        out.append(words)
    return "".join(out)
