"""How likely a prefix is to come again while its provider keeps it, learnt from those that did.

One estimate for each app, feature and kind of prefix: a Beta posterior over "comes again in time". A prefix counts as
one that did not until it does. So a stream of prompts that never come again is found out after a few of them, not
after the minutes it takes to be sure of each.
"""

from collections import OrderedDict
from typing import Final, Literal, NamedTuple

Kind = Literal["tools", "system", "opening", "conversation"]
"""What a prefix ends with: the tools, the system prompt, a first turn of the user, or a later one."""

MINUTES_S: Final = 300
HOUR_S: Final = 3600

_PRIOR: Final = 1.0
"""As if one prefix had come again and one had not: enough to try. The one that is asked about counts as one that has
not, so that at the usual prices, where a chance of 22 % pays, two that do not come again are enough to stop."""

_MOST: Final = 256.0
"""Beyond so many the counts are halved, so that what an app does now outweighs what it did."""

_MOST_STREAMS: Final = 8_192


class Stream(NamedTuple):
    """What prefixes are learnt of together."""

    tenant: str
    feature: str
    kind: Kind


class _Counts:
    __slots__ = ("begun", "late", "soon")

    def __init__(self) -> None:
        self.begun = self.soon = self.late = 0.0

    def forget_half(self) -> None:
        self.begun, self.soon, self.late = self.begun / 2, self.soon / 2, self.late / 2


class Reuse:
    """What was learnt of every stream; those not met for longest are forgotten first."""

    def __init__(self, most: int = _MOST_STREAMS) -> None:
        self._most = most
        self._of: OrderedDict[Stream, _Counts] = OrderedDict()

    def begun(self, stream: Stream) -> None:
        """Count a prefix that may or may not come again."""
        counts = self._counts(stream)
        counts.begun += 1
        if counts.begun > _MOST:
            counts.forget_half()

    def came_again(self, stream: Stream, after_s: float) -> None:
        """Count that one did, so many seconds after it was last met."""
        counts = self._counts(stream)
        if after_s <= MINUTES_S:
            counts.soon += 1
        elif after_s <= HOUR_S:
            counts.late += 1

    def chance(self, stream: Stream, within_s: int) -> float:
        """Return how likely a prefix comes again within 5 minutes or an hour; 1/2 where nothing is known."""
        counts = self._of.get(stream)
        if counts is None:
            return 0.5
        came = counts.soon if within_s <= MINUTES_S else counts.soon + counts.late
        return min(1.0, (_PRIOR + came) / (2 * _PRIOR + max(counts.begun, came)))

    def _counts(self, stream: Stream) -> _Counts:
        found = self._of.get(stream)
        if found is None:
            found = self._of[stream] = _Counts()
            if len(self._of) > self._most:
                self._of.popitem(last=False)
        else:
            self._of.move_to_end(stream)
        return found
