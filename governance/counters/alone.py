"""What one process counts by itself while the home is away: its allowance, and its own share of the rates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from governance.counters import Draw, Exhausted, Level, Unit
from governance.counters.memory import MemoryCounters
from governance.errors import StoreUnavailable
from governance.money import Nanodollars

OnAway = Literal["closed", "open"] | Nanodollars
"""While the home is away: refuse, serve whatever is asked, or serve up to an amount in each process."""


@dataclass(frozen=True, slots=True)
class OpenHold:
    """A hold that its process knows to be open."""

    draws: tuple[Draw, ...]
    expires_at: float

    @property
    def money(self) -> int:
        """What it may spend, in nano-dollars; nothing where no budget applies."""
        return max((draw.amount for draw in self.draws if draw.counter.unit is Unit.SPEND), default=0)


class Alone:
    """One absence of the home, from its beginning to its end. Budgets are unknown meanwhile: only the rule holds."""

    def __init__(self, rule: OnAway) -> None:
        self.open: dict[str, OpenHold] = {}
        self._rule = rule
        self._spent = 0
        self._rates = MemoryCounters()

    def obey(self, rule: OnAway) -> None:
        """Follow another rule from now on; what was spent in this absence stays spent."""
        self._rule = rule

    async def hold(
        self, hold_id: str, draws: Sequence[Draw], expires_at: float, why: str
    ) -> tuple[Level, ...] | Exhausted:
        """Open a hold, or say which rate it does not fit.

        Raises:
            StoreUnavailable: The rule is to refuse, or the allowance is used up; `why` says what is wrong.
        """
        hold = OpenHold(tuple(draws), expires_at)
        self._allow(hold_id, hold, why)
        taken = await self._rates.hold(hold_id, _rates(draws), expires_at)
        if isinstance(taken, Exhausted):
            return taken
        self.open[hold_id] = hold
        return unknown(draws)

    async def redraw(
        self, hold_id: str, before: OpenHold, draws: Sequence[Draw], why: str
    ) -> tuple[Level, ...] | Exhausted:
        """Let a hold draw something else, one of this absence or from before; else as `hold`."""
        hold = OpenHold(tuple(draws), before.expires_at)
        self._allow(hold_id, hold, why)
        taken = await self._rates.redraw(hold_id, _rates(draws))
        if taken is None:
            taken = await self._rates.hold(hold_id, _rates(draws), before.expires_at)
        if isinstance(taken, Exhausted):
            return taken
        self.open[hold_id] = hold
        return unknown(draws)

    def _allow(self, hold_id: str, hold: OpenHold, why: str) -> None:
        if self._rule == "closed":
            raise StoreUnavailable(why)
        if isinstance(self._rule, Nanodollars):
            held = sum(other.money for name, other in self.open.items() if name != hold_id)
            if self._spent + held + hold.money > self._rule.nanos:
                raise StoreUnavailable(f"{why}; the allowance of {self._rule.usd} USD is used up")

    async def end(self, hold_id: str, actuals: Sequence[int]) -> OpenHold:
        """End a hold of this absence at what was really used."""
        hold = self.open.pop(hold_id)
        used = list(zip(hold.draws, actuals, strict=True))
        self._spent += max((actual for draw, actual in used if draw.counter.unit is Unit.SPEND), default=0)
        await self._rates.settle(hold_id, [actual for draw, actual in used if draw.counter.unit is not Unit.SPEND])
        return hold

    def late(self, now: float) -> tuple[str, ...]:
        """Name the holds past their lease."""
        return tuple(hold_id for hold_id, hold in self.open.items() if hold.expires_at <= now)


def _rates(draws: Sequence[Draw]) -> list[Draw]:
    return [draw for draw in draws if draw.counter.unit is not Unit.SPEND]


def unknown(draws: Sequence[Draw]) -> tuple[Level, ...]:
    """The levels of counters whose home is away."""
    return tuple(Level(firm=False) for _ in draws)
