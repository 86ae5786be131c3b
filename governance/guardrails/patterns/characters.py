"""Which characters one step of a parsed pattern may read: never fewer than it does, sometimes more.

What is too many only holds a text back a little longer. So case is always ignored, and a dot reads line ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

Reads = Callable[[str], bool]
"""Says whether a step may read a character."""

_KNOWN = 1024
"""Characters of which each step remembers whether it may read them."""


def reads_of(code: str, argument: object) -> Reads | None:
    """Return what a step of one character may read; None for a step that is no single character."""
    match code:
        case "LITERAL":
            letter = chr(cast("int", argument))
            forms = _forms(letter)
            return remembered(lambda c: not _forms(c).isdisjoint(forms))
        case "NOT_LITERAL":
            letter = chr(cast("int", argument))
            return lambda c: c != letter
        case "ANY":
            return anything
        case "IN":
            return remembered(_one_of(cast("Sequence[tuple[object, object]]", argument)))
        case _:
            return None


def anything(_: str) -> bool:
    """Read any character."""
    return True


def remembered(reads: Reads) -> Reads:
    """Return what reads the same, and remembers what."""
    known = dict[str, bool]()

    def recalled(c: str) -> bool:
        found = known.get(c)
        if found is None:
            found = reads(c)
            if len(known) < _KNOWN:
                known[c] = found
        return found

    return recalled


def _one_of(items: Sequence[tuple[object, object]]) -> Reads:
    kinds = [(str(code), argument) for code, argument in items]
    listed = [item for item in kinds if item[0] != "NEGATE"]
    if len(listed) < len(kinds):
        return lambda c: not any(_surely(code, argument, c) for code, argument in listed)
    return lambda c: any(_perhaps(code, argument, form) for form in _forms(c) for code, argument in listed)


def _perhaps(code: str, argument: object, c: str) -> bool:
    """Say whether an item of a set may hold a character, under any flags."""
    match code:
        case "LITERAL":
            return ord(c) == argument
        case "RANGE":
            low, high = cast("tuple[int, int]", argument)
            return low <= ord(c) <= high
        case _:
            kind = str(argument).removeprefix("CATEGORY_")
            is_not = kind.startswith("NOT_")
            return not _category(kind[4:], c, ascii_only=True) if is_not else _category(kind, c, ascii_only=False)


def _surely(code: str, argument: object, c: str) -> bool:
    """Say whether an item of a set holds a character, whatever the flags."""
    match code:
        case "LITERAL" | "RANGE":
            return _perhaps(code, argument, c)
        case _:
            kind = str(argument).removeprefix("CATEGORY_")
            is_not = kind.startswith("NOT_")
            return not _category(kind[4:], c, ascii_only=False) if is_not else _category(kind, c, ascii_only=True)


def _category(kind: str, c: str, *, ascii_only: bool) -> bool:
    if ascii_only and not c.isascii():
        return False
    match kind:
        case "DIGIT":
            return c.isdecimal()
        case "SPACE":
            return c.isspace()
        case _:
            return c.isalnum() or c == "_"


def _forms(c: str) -> set[str]:
    """Return a character in every case that `re` might take it for, and no more than single characters."""
    lower, upper = c.lower(), c.upper()
    forms = {c, lower, upper, lower[:1], upper[:1], upper.lower(), lower.upper(), c.casefold()}
    return {form for form in forms if len(form) == 1} | ({c.casefold()[:1]} if len(c.casefold()) > 1 else set[str]())
