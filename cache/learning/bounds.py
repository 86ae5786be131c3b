"""How many wrong answers were served: an estimate and an upper 95 % bound, from those that were audited.

Every would-be hit is explored with a known probability. The model says how risky each one is; audits say how many
times as risky they are in truth (`excess`). With a gamma prior on the excess, worth `PRIOR` wrong answers, the number
of wrong answers served given those audited is negative binomial; the bound is its upper end.

In a world unlike those that the prior was learned from, hits may be many times as risky. Such worlds (`DOUBTS`) are
reckoned with until audits have made them implausible: the bound is the worst over all that are not.

`proven` is the bound that needs no model at all: a would-be hit that is wrong is caught with its known probability, so
`exp(rate * served_wrong - sum of charges of those caught)` is a supermartingale whatever the stream does, and Ville's
inequality bounds it at all times at once (the construction of Howard et al. 2021 and Waudby-Smith & Ramdas 2023). It
is honest and slow: with one hit in twenty explored it cannot go below sixty wrong answers.
"""

from __future__ import annotations

from math import exp, log, log1p, sqrt

import msgspec

PRIOR = 12.0
"""How many audited wrong answers the belief that the model is right is worth."""

Z = 1.8
"""Standard deviations of the upper bound; above the 1.64 of a single look, because it is looked at all the time."""

ALPHA = 0.05
LEAST_EXPLORED = 0.02
_RATE = -log1p(-LEAST_EXPLORED) / 2
_FADE = 0.9998
_FADE_AUDITED = 0.998
_VAGUE = 4.0
_SMOOTH = 0.25
DOUBTS = ((4.0, 0.0, 0.15), (16.0, 0.0, 0.05), (1.0, 0.03, 0.15), (1.0, 0.10, 0.05))
"""Worlds unlike those the prior knows: how many times as risky hits may be as the model says, which further share of
them may be wrong for reasons that it does not see, and the odds of such a world."""

IMPLAUSIBLE = 0.05
"""Odds below which such a world is no longer reckoned with."""


class Ledger(msgspec.Struct):
    """What was served and audited so far.

    Attributes:
        lookups: Lookups.
        hits: Answers served.
        audited: Would-be hits that were explored and judged.
        wrong: Those of the audited that differed (a sum of probabilities where the judge is in doubt).
        served_risk: Sum of the model's risk over the answers served.
        seen_risk: Fading sum of the model's risk over the lookups whose outcome was judged.
        seen_wrong: Fading sum of their outcomes.
        debt: Wrong answers served that the model's risk did not foresee, as found when answers changed.
        audited_risk: Fading sum of the model's risk over would-be hits that were audited.
        audited_wrong: Fading sum of their outcomes.
        audited_hits: Fading count of them.
        charges: Sum over the audited wrong ones of what each costs the proven bound.
    """

    lookups: int = 0
    hits: int = 0
    audited: int = 0
    wrong: float = 0.0
    served_risk: float = 0.0
    seen_risk: float = 0.0
    seen_wrong: float = 0.0
    debt: float = 0.0
    charges: float = 0.0
    audited_risk: float = 0.0
    audited_wrong: float = 0.0
    audited_hits: float = 0.0

    def audit(self, explored: float, risk: float, wrong: float) -> None:
        """Note a would-be hit that was explored with probability `explored` and turned out `wrong`."""
        self.audited_hits = self.audited_hits * _FADE_AUDITED + 1.0
        self.audited_risk = self.audited_risk * _FADE_AUDITED + risk
        self.audited_wrong = self.audited_wrong * _FADE_AUDITED + wrong
        self.audited += 1
        self.wrong += wrong
        caught = (1.0 - (1.0 - explored) * exp(_RATE)) / explored
        self.charges += -log(max(caught, 1e-12)) * wrong

    def see(self, risk: float, wrong: float, weight: float) -> None:
        """Hold the model's risk against an outcome that counts for `weight` of one."""
        self.seen_risk = self.seen_risk * _FADE + weight * risk
        self.seen_wrong = self.seen_wrong * _FADE + weight * wrong

    def excess(self) -> float:
        """Return how many times as risky hits are as the model says, if it is about right."""
        return (self.seen_wrong + PRIOR) / (self.seen_risk + PRIOR)

    def expected(self) -> float:
        """Return the expected number of wrong answers served."""
        return self.excess() * self.served_risk + self.debt

    def upper(self, more: float = 0.0, inflation: float = 1.0) -> float:
        """Return the upper bound of the number of wrong answers served.

        Args:
            more: Further risk to be served, as the model says.
            inflation: How many wrong answers there may be for each that the judge finds.
        """
        served = (self.served_risk + more) * inflation
        bound = _upper(self.excess() * served, self.seen_wrong + PRIOR)
        hits = self.hits + bool(more)
        for times, unseen, odds in DOUBTS:
            if odds * exp(self._evidence(times, unseen)) > IMPLAUSIBLE:
                wrong = self.audited_wrong + _VAGUE
                risk = self.audited_risk + unseen * self.audited_hits + _VAGUE / times
                bound = max(bound, _upper((served + unseen * hits * inflation) * wrong / risk, wrong))
        return bound + self.debt

    def _evidence(self, times: float, unseen: float) -> float:
        """Return the log-likelihood ratio of such a world to the one of the model, after the audits."""
        here, there = self.audited_risk, self.audited_risk * times + unseen * self.audited_hits
        return self.audited_wrong * log((there + _SMOOTH) / (here + _SMOOTH)) - (there - here)

    def proven(self) -> float:
        """Return the upper bound of the number of wrong answers served that holds whatever the model is worth."""
        return min(float(self.hits), (log(1.0 / ALPHA) + self.charges) / _RATE)


def _upper(mean: float, evidence: float) -> float:
    variance = mean + mean * mean / evidence
    return mean + Z * sqrt(variance) + (Z * Z - 1.0) / 6.0 + 0.8
