"""Text that has to match to the letter: identifiers, paths, URLs, addresses, versions, flags, quoted strings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cache.guards.words import Words

_LITERAL = re.compile(
    r"""
    `[^`]+`                                     # marked as code
  | "[^"]{1,80}"                                # quoted
  | \w[\w+-]*://[^\s<>"')\]]+                   # URL
  | [\w.+-]+@[\w-]+(?:\.[\w-]+)+                # address
  | (?<!\S)--?[A-Za-z][\w-]*                    # flag
  | (?<![\w.])/?[\w.-]+(?:/[\w.-]+){2,}/?       # path
  | (?<!\S)[~.]?/[\w.-]+(?:/[\w.-]+)*           # path from a root
  | \b\w+(?:::\w+)+                             # qualified name
  | \b[A-Za-z]\w+(?:\.[A-Za-z]\w+)+(?:\(\))?    # dotted name, file name
  | \b\w+\(\)                                   # call
  | \b\w*[a-z0-9]_\w*[A-Za-z0-9]\b              # snake_case
  | \b[A-Z]+(?:_[A-Z0-9]+)+\b                   # CONSTANT_CASE
  | \b[a-z]{2,}[A-Z][a-z]\w*\b                  # camelCase
  | \bv?\d+(?:\.\d+)+\b                         # version
  | \b(?=\w*\d)(?=\w*[A-Za-z])[\w-]{4,}\b       # an id of letters and figures
    """,
    re.VERBOSE,
)
_COUNTED = re.compile(r"\d[\d.,]*[-\w]{0,12}")
_EDGES = "`\"'.,;:!?()"


def read(words: Words) -> frozenset[str]:
    """Find what has to match to the letter, in lower case."""
    found = {match.strip(_EDGES).lower() for match in _LITERAL.findall(words.raw)}
    return frozenset(one for one in found if one and not (_COUNTED.fullmatch(one) and "." not in one))


def differ(a: frozenset[str], a_text: str, b: frozenset[str], b_text: str) -> bool:
    """Tell whether either question has a literal that the other's text does not have."""
    return any(not _has(b_text, one) for one in a - b) or any(not _has(a_text, one) for one in b - a)


def _has(text: str, literal: str) -> bool:
    """Tell whether a literal stands in a text on its own, and not as a part of a longer one."""
    return re.search(rf"(?<![\w.]){re.escape(literal)}(?!\w|\.\w)", text) is not None
