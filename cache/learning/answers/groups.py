"""Which stored answers say the same: groups found from comparisons by a judge who errs now and then.

A fresh answer is compared with a few stored ones. Bayes' rule over "it belongs to this group" and "to none of them"
decides, so that one false verdict among several neither merges two groups nor splits one. Groups that keep being called
the same are merged once the evidence outweighs the odds against it (one in the number of groups). Every entry carries
the log-odds that it is where it belongs; each later comparison moves them, and an entry that loses them is moved out.
"""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cache.learning.answers.judging import Judging
    from cache.learning.lookups import Verdict

MAX_PAIRS = 4_096
"""Pairs of groups whose likeness is remembered; those not seen for longest leave first."""

JOIN = 0.8
"""Least probability with which a fresh answer joins a group; below it starts its own, which can still be merged."""

MERGE = log(0.9 / 0.1)
DIFFER = -2.0
_FEW = 20
_CERTAIN = 8.0
_FORGET = 0.98


class Member(msgspec.Struct, array_like=True):
    """What is known of one stored answer.

    Attributes:
        group: Its group, as it was named first; `Groups.of` follows merges.
        trust: Log-odds that it belongs there.
        right: Fading count of judged lookups to which it would have been a right answer.
        wrong: And to which it would have been a wrong one.
    """

    group: int
    trust: float = 0.0
    right: float = 0.0
    wrong: float = 0.0


class Record(msgspec.Struct, array_like=True):
    """How often a group, put forward as the answer, was right and wrong; old counts fade.

    Attributes:
        right: Fading count of right ones.
        wrong: Fading count of wrong ones.
    """

    right: float = 0.0
    wrong: float = 0.0


class Groups(msgspec.Struct):
    """The groups of one feature.

    Attributes:
        members: Stored answers by fingerprint.
        merged: Where a group went that was merged into another.
        records: How groups did as answers.
        likeness: Log-likelihood ratio of "the same answer" by pairs of groups, the smaller first.
        named: How many groups were ever named.
        live: How many of them were not merged into another.
    """

    members: dict[bytes, Member] = {}
    merged: dict[int, int] = {}
    records: dict[int, Record] = {}
    likeness: dict[tuple[int, int], float] = {}
    named: int = 0
    live: int = 0

    def of(self, entry: bytes) -> int | None:
        """Return the group of an entry, or None when nothing is known of it."""
        member = self.members.get(entry)
        return None if member is None else self.root(member.group)

    def root(self, group: int) -> int:
        """Return the group that a group has become part of."""
        while group in self.merged:
            above = self.merged[group]
            if above in self.merged:
                self.merged[group] = self.merged[above]
            group = above
        return group

    def start(self, entry: bytes) -> int:
        """Put an entry into a group of its own."""
        self.named += 1
        self.live += 1
        self.members[entry] = Member(self.named, _CERTAIN)
        return self.named

    def place(self, verdicts: Sequence[Verdict], prior: Mapping[int, float], judging: Judging) -> dict[int, float]:
        """Weigh which group a fresh answer belongs to.

        Args:
            verdicts: The judge's words.
            prior: How probable each group was before, from the likeness of the questions; the rest is "none of them".
            judging: How often the judge errs.

        Returns:
            The probability of each group that was compared or named in `prior`; what is missing to 1 is "none of them".
        """
        known = [(self.root(self.members[v.entry].group), v) for v in verdicts if v.entry in self.members]
        scores = {g: log(max(p, 1e-6)) for g, p in prior.items()}
        for group, _ in known:
            scores.setdefault(group, log(1e-3))
        none = log(max(1.0 - sum(exp(s) for s in scores.values()), 1e-3))
        for group, verdict in known:
            sure = 1 / (1 + exp(-self.members[verdict.entry].trust))
            apart = judging.likelihood(same=False, verdict=verdict.same)
            within = sure * judging.likelihood(same=True, verdict=verdict.same) + (1 - sure) * apart
            none += log(apart)
            for other in scores:
                scores[other] += log(within if other == group else apart)
        top = max(none, *scores.values()) if scores else none
        total = exp(none - top) + sum(exp(s - top) for s in scores.values())
        return {g: exp(s - top) / total for g, s in scores.items()}

    def join(self, entry: bytes, odds: Mapping[int, float]) -> int:
        """Put a fresh answer where it most probably belongs, or into a group of its own."""
        group, probability = max(odds.items(), key=lambda pair: pair[1], default=(0, 0.0))
        if probability < JOIN:
            return self.start(entry)
        self.members[entry] = Member(group, min(_CERTAIN, log(probability / max(1 - probability, 1e-6))))
        return group

    def compare(self, group: int, verdicts: Iterable[Verdict], judging: Judging) -> None:
        """Let the verdicts on an answer of `group` speak for or against the places of those it was compared with."""
        for verdict in verdicts:
            member = self.members.get(verdict.entry)
            if member is None:
                continue
            ratio = log(
                judging.likelihood(same=True, verdict=verdict.same)
                / judging.likelihood(same=False, verdict=verdict.same)
            )
            other = self.root(member.group)
            if other == group:
                member.trust = min(_CERTAIN, member.trust + ratio)
                if member.trust < 0:
                    self.start(verdict.entry)
            elif member.trust > 0:
                self._liken(group, other, ratio)

    def differ(self, one: int, other: int) -> bool:
        """Tell whether two groups were found to be different by comparisons so far."""
        return self.likeness.get((min(one, other), max(one, other)), 0.0) < DIFFER

    def _liken(self, one: int, other: int, ratio: float) -> None:
        pair = (min(one, other), max(one, other))
        evidence = max(self.likeness.pop(pair, 0.0) + ratio, -_CERTAIN)
        if evidence - log(max(self.live, _FEW)) > MERGE:
            self._merge(*pair)
            return
        self.likeness[pair] = evidence
        if len(self.likeness) > MAX_PAIRS:
            del self.likeness[next(iter(self.likeness))]

    def _merge(self, kept: int, gone: int) -> None:
        if kept == gone:
            return
        self.merged[gone] = kept
        self.live -= 1
        old = self.records.pop(gone, Record())
        record = self.records.setdefault(kept, Record())
        record.right += old.right
        record.wrong += old.wrong

    def score(self, entry: bytes, group: int, wrong: float) -> None:
        """Note how a group, and the entry that stood for it, did on a judged lookup.

        Args:
            entry: The entry that was or would have been served.
            group: Its group then.
            wrong: The probability that it was wrong.
        """
        record = self.records.setdefault(self.root(group), Record())
        member = self.members.get(entry)
        for held in (record,) if member is None else (record, member):
            held.right = held.right * _FORGET + 1 - wrong
            held.wrong = held.wrong * _FORGET + wrong

    def judged(self, group: int) -> float:
        """Return how often a group was judged as an answer, old times fading."""
        record = self.records.get(group)
        return 0.0 if record is None else record.right + record.wrong

    def forget(self, entry: bytes) -> None:
        """Forget an entry that is stored no more."""
        self.members.pop(entry, None)
