"""The state of a learner: small, and written down as it is."""

from __future__ import annotations

import msgspec

from cache.learning.answers.controls import Controls
from cache.learning.answers.groups import Groups
from cache.learning.answers.judging import Judging
from cache.learning.bounds import Ledger
from cache.learning.drift import Drift
from cache.learning.logistic import Logistic


class State(msgspec.Struct):
    """All that a learner knows.

    Attributes:
        model: How risky a hit is.
        groups: Which answers say the same.
        judging: How often the judge errs.
        controls: What the judge is tested with.
        ledger: What was served, and what is known of its errors.
        drift: Whether answers changed.
        recent: The risks of the last lookups.
        threshold: The highest risk that is acceptable at present.
        would_be: Would-be hits since learning began, or began anew.
        audited: Those of them that were explored and judged.
        drifted: Whether it began anew because answers changed.
        novelty: The share of late lookups whose answer was unlike any before.
    """

    model: Logistic
    groups: Groups = msgspec.field(default_factory=Groups)
    judging: Judging = msgspec.field(default_factory=Judging)
    ledger: Ledger = msgspec.field(default_factory=Ledger)
    drift: Drift = msgspec.field(default_factory=Drift)
    recent: list[float] = []
    controls: Controls = msgspec.field(default_factory=Controls)
    threshold: float = 0.0
    would_be: int = 0
    audited: int = 0
    drifted: bool = False
    novelty: float = 1.0
