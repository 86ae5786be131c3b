"""What the accounts need to know of a prompt: what it is made of, and what was cut of it."""

from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from governance.context.auditing import Audit
from governance.money import ZERO, Nanodollars
from governance.prices import Price, Usage, cost_of


@dataclass(frozen=True, slots=True)
class Spared:
    """What was cut of a prompt, or would be.

    Attributes:
        found: what the uncut prompt is made of; None where nobody asks.
        note: what the caller and the ledger are told; empty when there is nothing to tell.
        tokens: how many were cut, as estimated.
        lost: how many more of them, as far as is known, a provider would have had in its cache of the uncut prompt.
    """

    found: Audit | None = None
    note: str = ""
    tokens: int = 0
    lost: int = 0

    def worth(self, usage: Usage | None, price: Price) -> Nanodollars:
        """Return what the uncut prompt would have cost beyond what this one did, at the price of who answered it."""
        if usage is None or not self.tokens:
            return ZERO
        fresh = max(0, usage.fresh_input + self.tokens - self.lost)
        uncut = replace(usage, fresh_input=fresh, cache_read=usage.cache_read + self.lost)
        return cost_of(uncut, price) - cost_of(usage, price)


NOTHING_SPARED: Final = Spared()
