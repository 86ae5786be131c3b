"""Weak or strong: what a score means under a route's threshold, and for a session that has begun already.

A prompt that is unlike all that was learned from goes to the strong model, and so does one that could not be scored: a
wrong guess there costs quality that nobody would miss until it is gone. Within a session the answer changes only when
the need has left a band about the threshold, so that a conversation stays where its prompt is cached.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Hashable

    from router_models.scoring import Score

BAND: Final = 0.1
"""How far beyond the threshold the need must be for a session to change its model."""

KNOWN: Final = 0.15
"""How known a prompt must be for its score to decide.

A router calls strange what is stranger than all but one in fifty of its own training prompts. That lets much through
which applications ask and examinations do not, so that more is asked here: of prompts like those that were learned
from, fifteen in a hundred go to the strong model for nothing.
"""

_SESSIONS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Opinion:
    """Which of a route's two models should answer.

    Attributes:
        strong: The strong one.
        reason: Short text for `x-sluice-route`.
    """

    strong: bool
    reason: str


UNSCORED: Final = Opinion(strong=True, reason="unscored:strong")
STRANGE: Final = Opinion(strong=True, reason="ood:strong")


def opinion_of(score: Score, threshold: float, before: Opinion | None = None) -> Opinion:
    """Return which model should answer.

    Args:
        score: What a router says of the prompt.
        threshold: The need from which on the strong model answers.
        before: What answered last in the same session; None where there was nothing.
    """
    if not score.in_distribution or score.known < KNOWN:
        return STRANGE
    at = threshold if before is None else threshold - BAND if before.strong else threshold + BAND
    strong = score.need >= at
    side, sign = ("strong", ">=") if strong else ("weak", "<")
    return Opinion(strong, f"learned:{side} p={score.need:.2f}{sign}{at:.2f}")


class Sessions:
    """What answered last in each session, as far as this process remembers."""

    def __init__(self) -> None:
        """Begin with none."""
        self._last: OrderedDict[Hashable, Opinion] = OrderedDict()

    def last(self, session: Hashable) -> Opinion | None:
        """Return what answered last; None for a session that is new or long ago."""
        return self._last.get(session)

    def keep(self, session: Hashable, opinion: Opinion) -> None:
        """Remember what answers now."""
        self._last[session] = opinion
        self._last.move_to_end(session)
        if len(self._last) > _SESSIONS:
            self._last.popitem(last=False)
