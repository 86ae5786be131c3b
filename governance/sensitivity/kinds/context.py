"""The words before a piece of text, which say what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import re

_BEFORE: Final = 60
_AFTER: Final = 24


def said(words: re.Pattern[str], text: str, start: int, end: int) -> bool:
    """Say whether one of some words stands shortly before a piece of a text, or just after it."""
    return (
        words.search(text, max(0, start - _BEFORE), start) is not None
        or words.search(text, end, end + _AFTER) is not None
    )


def said_before(words: re.Pattern[str], text: str, start: int, within: int = 24) -> bool:
    """Say whether one of some words stands shortly before a place of a text."""
    return words.search(text, max(0, start - within), start) is not None
