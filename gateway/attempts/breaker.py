"""A circuit breaker: what keeps failing is left alone for a while, then tried with a single call.

Closed, it counts calls in a sliding window and opens on a run of failures or on a large share of them. Open, it lets
nothing through until its pause is over. Half open, it lets one probe through, whose end closes it or opens it again.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

_SLICES: Final = 10
_ENOUGH: Final = 2
"""A share is looked at once there were so many times as many calls as make a run of failures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerRule:
    """When it opens, and for how long.

    Attributes:
        failures: so many in a row are enough.
        percent: so large a share of the calls within the window is enough, once there were twice as many as `failures`.
        within_s: the window, in seconds.
        pause_s: seconds from its opening to the probe.
    """

    failures: int = 5
    percent: int = 50
    within_s: float = 60.0
    pause_s: float = 30.0


@dataclass(slots=True)
class _Slice:
    """What happened in a part of the window."""

    number: int
    calls: int = 0
    failures: int = 0


class Breaker:
    """The breaker of one model of one provider. `ticks` is a monotonic clock in seconds."""

    def __init__(self, ticks: Callable[[], float], rule: BreakerRule | None = None) -> None:
        self._ticks = ticks
        self._rule = rule or BreakerRule()
        self._run = 0
        self._slices: deque[_Slice] = deque(maxlen=_SLICES)
        self._opened_at: float | None = None
        self._probing = False

    def obey(self, rule: BreakerRule) -> None:
        """Follow another rule from now on."""
        self._rule = rule

    @property
    def state(self) -> Literal["closed", "open", "half_open"]:
        """How it stands now."""
        if self._opened_at is None:
            return "closed"
        return "open" if self._ticks() - self._opened_at < self._rule.pause_s else "half_open"

    @property
    def resting(self) -> bool:
        """Whether no call may be made: it is open, or its probe is under way."""
        state = self.state
        return state == "open" or (state == "half_open" and self._probing)

    @property
    def rests_for_s(self) -> float:
        """Seconds until a probe may be made; 0 when it rests no more."""
        return 0.0 if self._opened_at is None else max(0.0, self._rule.pause_s - (self._ticks() - self._opened_at))

    def begin(self) -> bool:
        """Take the probe when it is half open, and say whether this call is the probe. Ask `resting` first."""
        probe = self.state == "half_open"
        self._probing = self._probing or probe
        return probe

    def succeeded(self, *, probe: bool) -> None:
        """Count a call that was answered."""
        if probe:
            self._opened_at, self._probing = None, False
            self._slices.clear()
        self._run = 0
        self._count(failed=False)

    def failed(self, *, probe: bool) -> None:
        """Count a call that failed by the provider's fault, and open when that is enough."""
        self._run += 1
        self._count(failed=True)
        if probe or (self._opened_at is None and self._enough):
            self._opened_at, self._probing, self._run = self._ticks(), False, 0
            self._slices.clear()

    def left_open(self, *, probe: bool) -> None:
        """Take note of a call of whose end nobody knows, such as one whose client left: it counts for nothing."""
        if probe:
            self._probing = False

    @property
    def _enough(self) -> bool:
        rule, since = self._rule, self._slice - _SLICES
        within = [part for part in self._slices if part.number > since]
        calls, failures = sum(part.calls for part in within), sum(part.failures for part in within)
        share = calls >= _ENOUGH * rule.failures and failures * 100 >= calls * rule.percent
        return self._run >= rule.failures or share

    @property
    def _slice(self) -> int:
        return int(self._ticks() * _SLICES // self._rule.within_s)

    def _count(self, *, failed: bool) -> None:
        if not self._slices or self._slices[-1].number != self._slice:
            self._slices.append(_Slice(self._slice))
        self._slices[-1].calls += 1
        self._slices[-1].failures += failed
