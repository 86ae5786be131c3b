"""How a reason is written down: a pattern, and the words without which it need not be tried."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Sign:
    """One way in which a reason shows.

    Attributes:
        what: The reason in a few words.
        needs: Words of which the pattern matches at least one; the set test spares most of the matching.
        pattern: What to find in the folded text.
    """

    what: str
    needs: frozenset[str]
    pattern: re.Pattern[str]


def words(listed: str) -> frozenset[str]:
    """Return the words of a list written with spaces between."""
    return frozenset(listed.split())


def sign(what: str, needs: str, pattern: str) -> Sign:
    """Write a sign down.

    Args:
        what: The reason in a few words.
        needs: The needed words, with spaces between.
        pattern: A regular expression over folded text.
    """
    return Sign(what, words(needs), re.compile(pattern))


def first(signs: Iterable[Sign], text: str, words: frozenset[str]) -> str | None:
    """Return the reason of the first sign that the text shows.

    Args:
        signs: What to look for, in order.
        text: The folded text.
        words: Its words.
    """
    for one in signs:
        if not words.isdisjoint(one.needs) and one.pattern.search(text):
            return one.what
    return None
