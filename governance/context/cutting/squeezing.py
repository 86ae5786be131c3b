"""Take out what only fills: white space that means nothing, and the indents of JSON. Nothing that is said is lost."""

from __future__ import annotations

import re
from typing import Final

from governance.context.cutting.pieces import is_json

_TRAILING: Final = re.compile(r"[^\S\n]+(?=\n|\Z)")
_BLANKS: Final = re.compile(r"\n{3,}")
_FENCED: Final = re.compile(r"(^(```|~~~).*?^\2[^\S\n]*$)", re.DOTALL | re.MULTILINE)
_BETWEEN: Final = re.compile(r'("(?:[^"\\]|\\.)*")|\s+')


def squeezed(text: str) -> str:
    """Return a text without spaces at line ends and more than one empty line; fenced code stays as it is."""
    if is_json(text):
        return minified(text)
    parts = _FENCED.split(text)
    for at in range(0, len(parts), 3):  # what is between fences; the pattern has two groups
        parts[at] = _BLANKS.sub("\n\n", _TRAILING.sub("", parts[at]))
    return "".join(part for at, part in enumerate(parts) if at % 3 != 2)  # noqa: PLR2004  the mark of a fence


def minified(text: str) -> str:
    """Return a JSON text without the space between its signs: numbers and strings stay as they are spelled."""
    return _BETWEEN.sub(lambda match: match[1] or "", text)
