"""Stop an answer that costs more than can be paid for.

A hold covers the most that an answer can cost, so this is for what a provider reports against all bounds: it ignores
the length it was given, or counts a prompt as more than its bytes. Such an answer goes on while the budgets have room
beside what is held, and stops at the token that no longer fits. What a provider does not report on the way is booked
at no more than was held (`Meter.guess`), so there is nothing to stop.
"""

from msgspec.structs import replace

from gateway.steps.metering import Meter
from governance.limits import Standing
from governance.money import ZERO, Nanodollars
from governance.prices import Price, Usage, cost_of
from governance.purse import Hold


class Brake:
    """Watches the cost of one answer as it grows."""

    def __init__(self, hold: Hold, price: Price) -> None:
        self._hold = hold
        self.price = price
        self._beyond = ZERO

    async def stops(self, meter: Meter) -> Standing | None:
        """Return the budget that has no room for another token, or None as long as there is one.

        Raises:
            StoreUnavailable: the counters do not answer; asked only beyond what is held.
        """
        used = meter.told
        if used is None or cost_of(_one_more(used), self.price) <= self._allowed:
            return None
        left = await self._hold.left()
        if left is None:
            return None
        self._beyond = left.remaining
        return None if cost_of(_one_more(used), self.price) <= self._allowed else left

    @property
    def _allowed(self) -> Nanodollars:
        return self._hold.worst.cost - self._hold.spent + self._beyond


def stopped_by(budget: Standing) -> dict[str, str]:
    """Return what a client should know of a budget that stopped its answer."""
    return {
        "stopped_by": budget.scope,
        "window": budget.window.value,
        "limit_usd": budget.limit.usd,
        "resets_at": budget.resets_at.isoformat(),
    }


def _one_more(usage: Usage) -> Usage:
    return replace(usage, output=usage.output + 1)
