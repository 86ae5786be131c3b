"""Days, months, years and times that are named: Monday is not Tuesday, and last month is not this month."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from cache.guards.words import terms

if TYPE_CHECKING:
    from cache.guards.words import Words

_WEEKDAYS = terms("monday tuesday wednesday thursday friday saturday sunday weekday weekend")
_MONTHS = terms("january february april june july august september october november december")
_SHORT = {month[:3]: month for month in _MONTHS} | {"mar": "march", "sept": "september"}
_SEASONS = terms("""spring summer autumn winter christmas easter ramadan diwali halloween thanksgiving hanukkah""")
_RELATIVE = terms("today tomorrow yesterday tonight nowadays overnight midnight noon")
_AMBIGUOUS = frozenset(("march", "may", "spring", "fall"))
_INTRODUCES = frozenset(terms("in of since until till by from last next this to before after during between and"))
_SHIFTS = frozenset(("this", "last", "next", "previous", "coming", "past", "current", "same", "every", "each", "per"))
PERIODS = frozenset(terms("day week month year quarter night morning afternoon evening term season"))
"""What comes round again: last month, every night."""
_RATES = {
    "daily": "per day", "weekly": "per week", "monthly": "per month", "yearly": "per year", "annual": "per year",
    "annually": "per year", "quarterly": "per quarter", "hourly": "per hour", "nightly": "per night",
    "fortnightly": "per fortnight", "previous": "last", "past": "last", "coming": "next", "current": "this",
    "every": "per", "each": "per",
}  # fmt: skip
_NAMED = frozenset((*_WEEKDAYS, *_MONTHS, *_SEASONS, *_RELATIVE)) | _AMBIGUOUS
_SHORTEST_MISSPELT = 6


def _slips(word: str) -> set[str]:
    """Return how a word comes out when a letter is left out, doubled, or two change places."""
    dropped = {word[:at] + word[at + 1 :] for at in range(1, len(word))}
    swapped = {word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)}
    doubled = {word[:at] + word[at] + word[at:] for at in range(len(word))}
    return (dropped | swapped | doubled) - {word}


_MISSPELT = {slip: word for word in sorted(_NAMED) if len(word) >= _SHORTEST_MISSPELT for slip in _slips(word)} | _SHORT


def read(words: Words) -> frozenset[str]:
    """Find the moments and periods that a question names."""
    found: set[str] = set()
    for before, word in pairwise(("", *words.words)):
        single = word[:-1] if word.endswith("s") and word[:-1] in _NAMED | PERIODS else word
        single = _MISSPELT.get(single, _MISSPELT.get(single.removesuffix("s"), single))
        single = _RATES.get(single, single)
        shift = _RATES.get(before, before)
        if single in PERIODS and before in _SHIFTS:
            found.add(f"{shift} {single}")
        elif single.startswith("per ") or (
            single in _NAMED and (single not in _AMBIGUOUS or before in _INTRODUCES or before[:1].isdigit())
        ):
            found.add(single)
    return frozenset(found)


def differ(a: frozenset[str], b: frozenset[str]) -> bool:
    """Tell whether the questions are about different times; a rate or a season is often left out."""
    if {one for one in a if not _often_left_out(one)} ^ {one for one in b if not _often_left_out(one)}:
        return True
    return bool(a and b) and a != b


def _often_left_out(moment: str) -> bool:
    return moment.startswith(("per ", "this ")) or moment in _SEASONS or moment in {"weekday", "nowadays"}


def names(word: str) -> bool:
    """Tell whether a word names a moment, rightly spelt or not."""
    return word in _NAMED or word in _MISSPELT or word.removesuffix("s") in _NAMED
