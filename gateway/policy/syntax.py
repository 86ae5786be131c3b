"""Broken YAML in a person's words: where to look, and what to do there.

The parser stumbles where it can go no further, and names its own tokens. People want the place of the slip, which is
often earlier: the bracket that was never closed, the line whose colon is missing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import yaml

_FOUND = re.compile(r"(?:found|got) '(.*)'$")
_CLOSING = re.compile(r"expected ',' or '(.)'")
_BAD_START = re.compile(r"found character '(.*)' that cannot start any token")
_ENDS = (":", "<stream end>", "<block end>", "<document start>", "<document end>", "-", "?")
"""What the parser meets when a bracket was not closed: the next line, or the end."""

_COLON = "needs a colon after its name, as in `name: value`"
_INDENT = "is not indented like the lines around it: the parts of one mapping start in the same column"
_SECOND_COLON = "has a second colon: put quotes around a text that has one"
_MIXED = 'mixes a list and a mapping: either every line of a part starts with "- ", or none does'
_TAB = "has a tab: indent with spaces"
_ELSE = "cannot be read: look at the indentation, the colons and the quotes here and just above"


_RESERVED = "starts with & or *, which YAML keeps for itself: put quotes around it"
_NO_MAPPING = ("mapping values are not allowed here", "expected <block end>, but found '<block mapping start>'")
_STARTS = {
    "found undefined alias": _RESERVED,
    "expected alphabetic or numeric character": _RESERVED,
    "found unknown escape character": "has a backslash that escapes nothing: write it twice, or use single quotes",
    "but found another document": "begins a second document: a policy is one",
}


_UNOPENED = "has a closing {} without its opening"
_IN_TEXT = "has a {} inside a text: put quotes around the text"
_IN_BRACKETS = "stands between brackets and cannot: is a bracket above not closed?"
_TOO_SHORT = "ends where something is still missing: is a bracket not closed?"
_STRAY = {
    "]": _UNOPENED,
    "}": _UNOPENED,
    "{": _IN_TEXT,
    "[": _IN_TEXT,
    "-": _IN_BRACKETS,
    ":": _IN_BRACKETS,
    "?": _IN_BRACKETS,
    ",": "has a comma with nothing before it, or outside of brackets",
    "<scalar>": "has a second text here: a comma is missing before it, or quotes around the whole",
    "<stream end>": _TOO_SHORT,
    "<block end>": _TOO_SHORT,
}


def slip(error: yaml.MarkedYAMLError, text: str) -> tuple[int, int, str]:
    """Return line and column (from 1) of what is wrong in a text that is no YAML, and what to do about it."""
    mark, opening = error.problem_mark or error.context_mark, error.context_mark or error.problem_mark
    if mark is None or opening is None:
        return 1, 1, _ELSE
    problem = error.problem or ""
    if problem in _NO_MAPPING:
        return _stray_colon(text.splitlines(), mark.line, mark.column)
    if "could not find expected ':'" in problem:
        return opening.line + 1, opening.column + 1, _COLON
    if "unexpected end of stream" in problem or "unexpected document separator" in problem:
        return opening.line + 1, opening.column + 1, "opens a quoted text that is never closed"
    found = _FOUND.search(problem)
    closing = _CLOSING.match(problem)
    if found and closing and found[1] in _ENDS:
        return opening.line + 1, opening.column + 1, f'opens a bracket that is never closed: "{closing[1]}" is missing'
    return mark.line + 1, mark.column + 1, _at_the_mark(problem, found[1] if found else "")


def _stray_colon(lines: Sequence[str], line: int, column: int) -> tuple[int, int, str]:
    """Find why a colon is not allowed: it is the second of its line, or the line above has none."""
    here = lines[line]
    if re.search(r":\s", here[:column]):
        return line + 1, column + 1, _SECOND_COLON
    above = next(
        (n for n in range(line - 1, -1, -1) if lines[n].strip() and not lines[n].lstrip().startswith("#")), None
    )
    if above is not None and ":" not in lines[above] and not lines[above].lstrip().startswith("-"):
        return above + 1, _first(lines[above]), _COLON
    return line + 1, _first(here), _INDENT


def _first(line: str) -> int:
    return len(line) - len(line.lstrip()) + 1


def _at_the_mark(problem: str, found: str) -> str:
    """Word what is wrong at the very place where the parser stopped."""
    if bad := _BAD_START.search(problem):
        return _TAB if bad[1] == "\\t" else f"starts with {bad[1]}, which YAML keeps for itself: put quotes around it"
    if found in {"-", "?"} and problem.startswith("expected <block end>"):
        return _MIXED
    if problem.startswith(("expected <block end>", "expected ',' or ", "expected the node content")):
        return _unexpected(found)
    return next((told for start, told in _STARTS.items() if problem.startswith(start)), _ELSE)


def _unexpected(found: str) -> str:
    return _STRAY.get(found, _ELSE).replace("{}", found)
