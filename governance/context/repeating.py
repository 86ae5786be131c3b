"""What a prompt says twice: pieces that are the same as an earlier one, or say nothing that it does not.

Nearly the same is measured as Broder has it ("On the resemblance and containment of documents", 1997): by the share of
a piece's runs of words (shingles) that an earlier piece has too. The sets are compared whole, without the sampling that
MinHash adds for the web's sake: a prompt is small, and the result is then the same in every process.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

_WORDS: Final = re.compile(r"[^\W_]+(?:['.,:/@_-][^\W_]+)*")
FEWEST: Final = 6
"""Words that a piece has at least before its repetition counts: shorter ones are marks and courtesies."""

NEAR: Final = 0.8
_RUN: Final = 3
_EMPTY_WORDS: Final = (
    "a an the and or but of to in on at by for with from as is are was were be been being this that these those "
    "it its there here also so then than which who whose what when where i we you he she they our your his her "
    "their my me us them do does did has have had will would can could may might shall should"
)
_EMPTY: Final = frozenset(_EMPTY_WORDS.split())
"""Words without which a sentence says the same."""


def words_of(text: str) -> list[str]:
    """Return the words of a text in order, as they are written."""
    return _WORDS.findall(text)


class Said:
    """What has been said so far, to be asked of each next piece whether it says anything new."""

    def __init__(self) -> None:
        self._whole: dict[str, int] = {}
        self._runs: dict[tuple[str, ...], int] = {}
        self._words: list[frozenset[str]] = []

    def again(self, text: str, *, near: bool = True) -> str:
        """Say how an earlier piece says it already: `same`, `near`, or nothing; one that is new is remembered.

        Nearly the same are pieces of which four fifths of the runs of three words stand in one earlier piece, and that
        have no word besides that says anything: no number, no name, no negation.

        Args:
            text: The piece.
            near: Look for nearly the same ones as well, which takes a multiple of the time.
        """
        words = words_of(text)
        if len(words) < FEWEST:
            return ""
        key = " ".join(text.split())
        if key in self._whole:
            return "same"
        if near:
            runs = list(zip(*(words[at:] for at in range(_RUN)), strict=False))
            earlier = self._nearest(runs)
            if earlier is not None and self._says_nothing_new(words, earlier):
                return "near"
            place = len(self._words)
            self._words.append(frozenset(words))
            for run in runs:
                self._runs.setdefault(run, place)
        self._whole[key] = len(self._whole)
        return ""

    def _nearest(self, runs: list[tuple[str, ...]]) -> int | None:
        met = Counter(place for run in runs if (place := self._runs.get(run)) is not None)
        if not met:
            return None
        place, count = met.most_common(1)[0]
        return place if count >= NEAR * len(runs) else None

    def _says_nothing_new(self, words: list[str], earlier: int) -> bool:
        before = self._words[earlier]
        return all(word in before or word.casefold() in _EMPTY for word in words)
