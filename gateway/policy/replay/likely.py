"""What a call would have been like that was never made: the median of an app's latest calls of the same model."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median_low
from typing import TYPE_CHECKING

from governance.prices import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from governance.ledger.reading.traffic import Past


@dataclass(frozen=True, slots=True)
class LikelyCall:
    """The middle of some calls: tokens, nano-dollars held, and milliseconds taken."""

    usage: Usage
    held: int
    duration_ms: float


class LikelyCalls:
    """The medians of a sample of calls, by app and model."""

    def __init__(self, calls: Iterable[Past]) -> None:
        groups: dict[tuple[str, ...], list[Past]] = {}
        for call in calls:
            groups.setdefault((call.team, call.app, call.model), []).append(call)
            groups.setdefault((call.model,), []).append(call)
        self._medians = {name: _median(group) for name, group in groups.items()}

    def of(self, team: str, app: str, model: str) -> LikelyCall | None:
        """Return the median of an app's calls of a model; without any, of all calls of it; None when there are none."""
        return self._medians.get((team, app, model)) or self._medians.get((model,))


def _median(calls: Sequence[Past]) -> LikelyCall:
    def middle(column: str) -> int:
        return median_low([getattr(call, column) or 0 for call in calls])

    return LikelyCall(
        Usage(*map(middle, Usage.__struct_fields__)),
        middle("held_nanos"),
        median_low([call.duration_ms or 0.0 for call in calls]),
    )
