"""What settled usage teaches of one model's tokenizer: how long a prompt probably is, and how long at the most.

The estimate is linear in what a prompt is made of (`makeup.py`): so many tokens for a word, a letter, a digit. The
weights begin as those of common tokenizers and move with every settled prompt by least squares of the relative error,
none of them below zero; so a longer prompt is never estimated shorter. The sums that this needs are kept whole, but
solved only by one round of coordinate descent per prompt, from the weights as they are: that takes microseconds, and
comes as close as the prompts allow after some dozens of them. Old prompts fade, since a name may come to stand for
another model.

How wrong the estimate is, is learnt as well: of the last `RECENT` prompts each says how much longer it was than was
estimated *before* it taught anything. The bound is the estimate times a high rank of these (a conformal bound): the
next prompt is longer with a chance of 1 - `COVER` as long as prompts go on as they were. It is no bound for all times;
that one is a token a byte (`bound.py`).
"""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable, Sequence
from math import ceil
from operator import mul
from typing import Final

from msgspec import Struct

from gateway.counting.makeup import MEASURES

ENOUGH: Final = 50
"""How many settled prompts it takes before a bound is drawn from them."""

RECENT: Final = 512
COVER: Final = 0.99

_WELL_KNOWN: Final = 256
_SELDOM: Final = 4
"""A model that is well known learns from every so many prompts."""

_USUAL: Final = {
    "words": 0.15, "letters": 0.25, "capitals": 0.6, "digits": 0.25, "digit_pairs": 0.9, "marks": 0.2,
    "mark_pairs": 0.7, "breaks": 0.1, "indents": 0.15, "latin": 2.0, "alphabets": 0.6, "greek": 1.0, "semitic": 0.9,
    "ideographs": 1.2, "hangul": 1.2, "syllabics": 1.3, "rare": 3.0,
    "once": 3.0, "messages": 4.0, "with_tools": 20.0, "schema": 0.25,
}  # fmt: skip
"""Tokens for each measure: about the mean of three tokenizers of 65,000 to 130,000 entries and one of 49,000."""

_BELIEF: Final = 0.0256
"""How firmly the usual weights are believed: as if each were known to a half, by prompts that scatter by 8 %."""

_PLACES: Final = range(len(MEASURES))
_WEIGHTS: Final = tuple([_USUAL[name] for name in MEASURES])
_BELIEFS: Final = tuple([_BELIEF / weight**2 for weight in _WEIGHTS])

_SLACK: Final = 16.0
"""Tokens added to both sides of a ratio, so that prompts of a few words do not make the bound of long ones."""

_FADE_EVERY: Final = 64
_FADE: Final = 0.9
_ODD: Final = 0.5
"""A relative error beyond which a prompt counts for less: one provider's mistake must not bend the weights."""

_UNTAUGHT_ERROR: Final = 0.4
"""The relative error that the usual weights keep on 19 of 20 texts of those tokenizers."""


class Learnt(Struct, frozen=True):
    """What a calibration knows, in a form that can be stored.

    Attributes:
        measures: what the weights are for; knowledge of other measures than today's is of no use.
        sums: the sums of products of the measures, by rows, each measure divided by its prompt's estimate.
        goals: the sums of products of the measures and the tokens counted, divided in the same way.
        ratios: actual to estimated length of recent prompts, oldest first.
        prompts: how many have taught.
    """

    measures: tuple[str, ...]
    weights: tuple[float, ...]
    sums: tuple[tuple[float, ...], ...]
    goals: tuple[float, ...]
    ratios: tuple[float, ...]
    prompts: int


class Calibration:
    """The calibration of one model."""

    def __init__(self) -> None:
        self._weights = list(_WEIGHTS)
        self._sums = [[belief * (row == column) for column in _PLACES] for row, belief in enumerate(_BELIEFS)]
        self._goals = [belief * weight for belief, weight in zip(_BELIEFS, _WEIGHTS, strict=True)]
        self._ratios = deque[float]()
        self._ranked = list[float]()
        self._offered = 0
        self.prompts = 0

    @classmethod
    def of(cls, learnt: Learnt) -> "Calibration":
        """Return the calibration that has learnt so much; a fresh one where that fits no more."""
        found = cls()
        if not _makes_sense(learnt):
            return found
        found._weights = list(learnt.weights)
        found._sums = [list(row) for row in learnt.sums]
        found._goals = list(learnt.goals)
        found._ratios.extend(learnt.ratios[-RECENT:])
        found._ranked = sorted(found._ratios)
        found.prompts = learnt.prompts
        return found

    @property
    def learnt(self) -> Learnt:
        """What it knows."""
        return Learnt(
            measures=MEASURES,
            weights=_short(self._weights),
            sums=tuple([_short(row) for row in self._sums]),
            goals=_short(self._goals),
            ratios=_short(self._ratios),
            prompts=self.prompts,
        )

    def estimate(self, measures: Sequence[int]) -> float:
        """Return how many tokens a prompt of these measures probably has, at least 1."""
        return max(1.0, sum(map(mul, self._weights, measures)))

    def most(self, measures: Sequence[int]) -> int | None:
        """Return how many tokens it has at the most, as far as recent prompts tell; None while too few have taught.

        That is never less than the estimate.
        """
        seen = len(self._ranked)
        if seen < ENOUGH:
            return None
        longest = max(1.0, self._ranked[min(seen, ceil((seen + 1) * COVER)) - 1])
        return max(1, ceil(longest * (self.estimate(measures) + _SLACK) - _SLACK))

    def error(self, share: float) -> float:
        """Return the relative error that so large a share of recent estimates kept to; a coarse one before any."""
        if not self._ranked:
            return _UNTAUGHT_ERROR
        errors = sorted([abs(ratio - 1) for ratio in self._ranked])
        return errors[min(len(errors), ceil(len(errors) * share)) - 1]

    def wants_more(self) -> bool:
        """Say whether the next prompt should teach; one that is well known needs few, and each takes its time."""
        self._offered += 1
        return self.prompts < _WELL_KNOWN or self._offered % _SELDOM == 0

    def learn(self, measures: Sequence[int], tokens: int) -> None:
        """Learn from a prompt whose tokens were counted, at least 1."""
        expected = self.estimate(measures)
        self._remember((tokens + _SLACK) / (expected + _SLACK))
        odd = abs(tokens / expected - 1)
        heed = 1.0 if odd <= _ODD else _ODD / odd
        self._add([measure / expected for measure in measures], tokens / expected, heed)
        self._descend()
        self.prompts += 1
        if self.prompts % _FADE_EVERY == 0:
            self._fade()

    def _remember(self, ratio: float) -> None:
        if len(self._ratios) == RECENT:
            del self._ranked[bisect_left(self._ranked, self._ratios.popleft())]
        self._ratios.append(ratio)
        insort(self._ranked, ratio)

    def _add(self, shares: Sequence[float], goal: float, heed: float) -> None:
        present = [(place, share) for place, share in enumerate(shares) if share]
        for place, share in present:
            row, heeded = self._sums[place], heed * share
            self._goals[place] += heeded * goal
            for other, its in present:
                row[other] += heeded * its

    def _fade(self) -> None:
        """Let old prompts count for less, and the usual weights for as much as ever where no prompt says otherwise."""
        self._sums = [[_FADE * each for each in row] for row in self._sums]
        self._goals = [_FADE * each for each in self._goals]
        for place, (belief, weight) in enumerate(zip(_BELIEFS, _WEIGHTS, strict=True)):
            self._sums[place][place] += (1 - _FADE) * belief
            self._goals[place] += (1 - _FADE) * belief * weight

    def _descend(self) -> None:
        weights = self._weights
        for place, (row, goal) in enumerate(zip(self._sums, self._goals, strict=True)):
            own = row[place]
            weights[place] = max(0.0, weights[place] + (goal - sum(map(mul, row, weights))) / own)


def _makes_sense(learnt: Learnt) -> bool:
    size = len(_PLACES)
    lengths = {len(learnt.sums), len(learnt.weights), len(learnt.goals), *map(len, learnt.sums)}
    if learnt.measures != MEASURES or lengths != {size}:
        return False
    return min(learnt.weights) >= 0 and all(learnt.sums[place][place] > 0 for place in _PLACES)


def _short(numbers: Iterable[float]) -> tuple[float, ...]:
    return tuple([float(f"{number:.7g}") for number in numbers])
