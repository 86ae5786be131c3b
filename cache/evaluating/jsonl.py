"""The lines of a file of JSON Lines, plain or gzip."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def numbered(file: Path) -> Iterator[tuple[int, bytes]]:
    """Read the lines that are not empty, each with its number, from 1."""
    with gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, line
