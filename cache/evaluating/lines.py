"""The lines of a recorded stream: JSON Lines, plain or gzip."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from cache.errors import BadLine
from cache.evaluating.jsonl import numbered

if TYPE_CHECKING:
    from pathlib import Path


class Line(msgspec.Struct, frozen=True):
    """One question and the answer it got.

    Attributes:
        id: Its name.
        prompt: The question.
        answer_class: Two questions with the same class had the same answer.
        tenant: Who asked; nothing is shared between tenants.
        feature: For what; each feature learns on its own.
    """

    id: str
    prompt: str
    answer_class: str
    tenant: str = ""
    feature: str = ""


def read_lines(file: Path) -> list[Line]:
    """Read a stream.

    Raises:
        BadLine: A line is not what it should be.
    """
    decoder = msgspec.json.Decoder(Line)
    lines: list[Line] = []
    for number, text in numbered(file):
        try:
            lines.append(decoder.decode(text))
        except msgspec.DecodeError as fault:
            raise BadLine(str(file), number, str(fault)) from fault
    return lines
