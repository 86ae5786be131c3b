"""Counters: one mechanism under every budget and every rate.

A counter is a pair (settled, held). A hold draws on several counters at once, all or nothing, and ends exactly once: it
is settled at what was really used, cancelled, or expires with its lease at what it held. Spend, requests, tokens and
concurrency are only different units of it.

The package knows nothing of policies, prices or the ledger. Read this file first, then `memory.py`; every home of the
counters passes the same suite, `tests/conformance/test_counters.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from governance.windows import Window


class Unit(StrEnum):
    """What a counter counts: nano-dollars, requests, tokens, requests in flight, or requests that may be a loop."""

    SPEND = "spend"
    REQUESTS = "requests"
    TOKENS = "tokens"
    CONCURRENT = "concurrent"
    REPEATS = "repeats"


@dataclass(frozen=True, slots=True)
class CounterKey:
    """The name of a counter. A count of what is in flight has no window."""

    scope: str
    unit: Unit
    window: Window | None


@dataclass(frozen=True, slots=True)
class Draw:
    """The most that a request may add to a counter, and the limit it must stay under."""

    counter: CounterKey
    amount: int
    limit: int


@dataclass(frozen=True, slots=True)
class Level:
    """What a counter shows: used for good, and kept by open holds."""

    settled: int = 0
    held: int = 0


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The first draw that did not fit, and the level it met."""

    draw: Draw
    level: Level


class Counters(Protocol):
    """A home of counters.

    Times are seconds since the epoch, given by the caller. Every method may raise `StoreUnavailable`.
    """

    async def hold(self, hold_id: str, draws: Sequence[Draw], expires_at: float) -> tuple[Level, ...] | Exhausted:
        """Draw on every counter, or on none.

        Args:
            hold_id: The hold's name. A hold that is open already is left as it is.
            draws: At most one for each counter. Each needs settled + held + amount <= limit.
            expires_at: When `expire` may end the hold.

        Returns:
            The levels after the hold, one for each draw, or the draw that did not fit; then nothing has changed.
        """
        ...

    async def settle(self, hold_id: str, actuals: Sequence[int]) -> tuple[Level, ...] | None:
        """End a hold at what was really used, one amount for each draw; more than was held is counted too.

        Returns:
            The levels afterwards, or None when no such hold is open: it has ended before, and nothing changes.
        """
        ...

    async def cancel(self, hold_id: str) -> bool:
        """End a hold as if it had never been. False when no such hold is open."""
        ...

    async def expire(self, now: float) -> tuple[str, ...]:
        """End every hold past its lease at what it held (nothing stays in flight), and forget windows that are over."""
        ...

    async def seed(self, counter: CounterKey, settled: int) -> None:
        """Raise a counter's settled amount to at least this much, as the ledger knows it; safe to repeat."""
        ...

    async def read(self, counters: Sequence[CounterKey]) -> tuple[Level, ...]:
        """Read the levels of counters, zero for those never drawn on."""
        ...
