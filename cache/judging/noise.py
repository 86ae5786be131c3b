"""How often the local judge is wrong, as measured: a bound on an error must not trust it further than that."""

from __future__ import annotations

from importlib.resources import files

import msgspec

from cache.intervals import Share, share


class Rate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A share that was counted.

    Attributes:
        events: How often it was so.
        trials: Of how many.
    """

    events: int
    trials: int

    @property
    def share(self) -> Share:
        """The share that was found."""
        return share(self.events, self.trials)


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


def measured_noise() -> JudgeNoise:
    """Return the noise of `AnswerJudge` with the bundled embedding, as `measuring.py` found it."""
    return msgspec.json.decode((files("cache.judging") / "noise.json").read_bytes(), type=JudgeNoise)
