"""How often the local judge is wrong, as measured: a bound on an error must not trust it further than that."""

from __future__ import annotations

from importlib.resources import files
from math import sqrt
from typing import Final

import msgspec

_Z: Final = 1.959964
"""Standard deviations of an interval that holds 95 %."""


class Rate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A share that was counted, with Wilson's interval (1927) at 95 %.

    Attributes:
        events: How often it was so.
        trials: Of how many.
    """

    events: int
    trials: int

    @property
    def share(self) -> float:
        """The share that was found; 0 where nothing was tried."""
        return self.events / self.trials if self.trials else 0.0

    @property
    def lower(self) -> float:
        """The lower end."""
        return max(0.0, self._middle() - self._half()) if self.trials else 0.0

    @property
    def upper(self) -> float:
        """The upper end."""
        return min(1.0, self._middle() + self._half()) if self.trials else 1.0

    def _middle(self) -> float:
        square = _Z * _Z / self.trials
        return (self.share + square / 2) / (1 + square)

    def _half(self) -> float:
        square = _Z * _Z / self.trials
        return sqrt(self.share * (1 - self.share) * square + square * square / 4) / (1 + square)


class JudgeNoise(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The errors of a judge among its verdicts; where it cannot tell it makes none.

    Attributes:
        missed: Verdicts on answers that differ in one thing, chosen to be missed, that say same.
        missed_unlike: Verdicts on answers to different questions that say same.
        alarmed: Verdicts on answers that say the same in very different words that say different.
        told_same: Answers that say the same of which it said so, of all of them.
        told_different: Answers that differ in one thing of which it said so, of all of them.
    """

    missed: Rate
    missed_unlike: Rate
    alarmed: Rate
    told_same: Rate
    told_different: Rate

    @property
    def miss_upper(self) -> float:
        """The most it may miss, at worst when all that differs differs in one thing."""
        return self.missed.upper

    @property
    def false_alarm_lower(self) -> float:
        """The least it raises false alarms."""
        return self.alarmed.lower

    @property
    def false_alarm_upper(self) -> float:
        """The most."""
        return self.alarmed.upper


def measured_noise() -> JudgeNoise:
    """Return the noise of `AnswerJudge` with the bundled embedding, as `measuring.py` found it."""
    return msgspec.json.decode((files("cache.judging") / "noise.json").read_bytes(), type=JudgeNoise)
