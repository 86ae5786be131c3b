"""How often the judge errs, as measured on comparisons whose outcome is known from elsewhere.

Two sources: answers compared with several members of one group, where each verdict is held against the others'; and
controls, stored answers to unrelated questions, which must not be called the same. From the share `d` of hits judged
different, the share that was wrong is at most `(d_up - alarms_low) / (1 - misses_up - alarms_low)` (the estimator of
Rogan and Gladen 1978, taken at the unfavourable ends of its confidence limits).
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cache.learning.answers.groups import Groups
    from cache.learning.lookups import Verdict

_PRIOR_TRIALS = 40.0
_PRIOR_ERRORS = 1.0
_LEAST = 0.002
_SURE = 0.95
_FIRST_TESTED = 20.0
_LEAST_TESTED = 0.03
_LOW = 0.84


class Rate(msgspec.Struct, array_like=True):
    """A share that is being counted.

    Attributes:
        events: How many trials went that way.
        trials: How many there were.
    """

    events: float = 0.0
    trials: float = 0.0

    def count(self, event: float) -> None:
        """Count one trial."""
        self.events += event
        self.trials += 1.0

    def mean(self) -> float:
        """Return the expected share, starting from one in forty."""
        return max(_LEAST, (self.events + _PRIOR_ERRORS) / (self.trials + _PRIOR_TRIALS))

    def limits(self, z: float) -> tuple[float, float]:
        """Return Wilson's confidence limits at `z` standard deviations; 0 to 1 when nothing was counted."""
        if not self.trials:
            return 0.0, 1.0
        share, square = self.events / self.trials, z * z / self.trials
        middle = (share + square / 2) / (1 + square)
        half = sqrt(share * (1 - share) * square + square * square / 4) / (1 + square)
        return max(0.0, middle - half), min(1.0, middle + half)


class Judging(msgspec.Struct):
    """What is known of the judge of one feature.

    Attributes:
        misses: Different answers called the same, among answers known to differ.
        alarms: Same answers called different, among answers known to be the same.
        controls: Answers to unrelated questions called the same.
    """

    misses: Rate = msgspec.field(default_factory=Rate)
    alarms: Rate = msgspec.field(default_factory=Rate)
    controls: Rate = msgspec.field(default_factory=Rate)

    def likelihood(self, *, same: bool, verdict: bool) -> float:
        """Return the probability of a verdict when the answers are in truth the same, or not."""
        says_same = 1.0 - self.alarms.mean() if same else self.misses.mean()
        return says_same if verdict else 1.0 - says_same

    def check(self, verdicts: Sequence[Verdict], groups: Groups) -> None:
        """Count errors of the judge: hold each verdict on one fresh answer against the others of the same answer."""
        for place, verdict in enumerate(verdicts):
            others = [*verdicts[:place], *verdicts[place + 1 :]]
            named = {group for other in others if (group := groups.of(other.entry)) is not None}
            odds = groups.place(others, {group: 0.8 / len(named) for group in named}, self)
            likely, probability = max(odds.items(), key=lambda pair: pair[1], default=(0, 0.0))
            group = groups.of(verdict.entry)
            if group is None or probability < _SURE:
                continue
            if group == likely:
                self.alarms.count(float(not verdict.same))
            elif groups.differ(group, likely):
                self.misses.count(float(verdict.same))

    def false_alarms(self, verdicts: int) -> float:
        """Return how often so many verdicts on a right answer call it wrong all the same; at least this often.

        Args:
            verdicts: Comparisons with members of the answer's group. Of two both must err, but a
                split verdict leaves a doubt of one in ten; of three two must err.
        """
        alarms = self.alarms.limits(_LOW)[0]
        return (0.0, alarms, alarms**2 + 0.2 * alarms, 3 * alarms**2)[min(verdicts, 3)]

    def tested(self) -> float:
        """Return the share of fresh answers that should be compared with a control as well."""
        return max(_LEAST_TESTED, _FIRST_TESTED / (_FIRST_TESTED + self.controls.trials))

    def inflation(self) -> float:
        """Return how many wrong answers there may be for each that is found, by what the judge missed of controls."""
        return 1.0 / max(1e-3, 1.0 - min(self.controls.mean() * 1.5, self.controls.limits(1.64)[1]))

    def noisy(self) -> bool:
        """Tell whether one verdict is too little to rely on."""
        return max(self.misses.mean(), self.alarms.mean()) > 0.01  # noqa: PLR2004 - one in a hundred
