"""Counters: one mechanism under every budget and every rate.

A counter is a pair (settled, held). A hold draws on several counters at once, all or nothing, and ends exactly once: it
is settled at what was really used, cancelled, or expires with its lease at what it held. Spend, requests, tokens and
concurrency are only different units of it.

The package knows nothing of policies or prices. Read this file first, then `memory.py`, the plainest of three homes.
`redis.py` (with `hold.lua`) and `postgres.py` are for several processes, `guarded.py` says what happens while such a
home is away (`alone.py` counts meanwhile, `untold.py` keeps what it is to be told), and `open.py` chooses. Every home
passes the same suite, `tests/conformance/test_counters.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Final, Protocol

from msgspec import Struct

from governance.windows import Window

KEPT_S: Final = 86_400.0
"""How long the counter of a window outlives it: a clock that steps back must not open a spent window afresh."""

REPEATS_KEPT_S: Final = 60.0
"""The same for counts of repeated requests, which are many and guard no money."""


class Unit(StrEnum):
    """What a counter counts: nano-dollars, requests, tokens, requests in flight, or requests that may be a loop."""

    SPEND = "spend"
    REQUESTS = "requests"
    TOKENS = "tokens"
    CONCURRENT = "concurrent"
    REPEATS = "repeats"


@dataclass(frozen=True, slots=True)
class CounterKey:
    """The name of a counter. A count of what is in flight has no window.

    Attributes:
        text: The name as text, by which homes keep it.
        kept_until: When it may be forgotten, in seconds since the epoch; zero for what is in flight.
    """

    scope: str
    unit: Unit
    window: Window | None
    text: str = field(init=False, repr=False, compare=False)
    kept_until: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Work out what follows from the name once, because every request asks for it."""
        text, until = f"{self.unit.value}|{self.scope}", 0.0
        if self.window is not None:
            text = f"{text}|{self.window.text}"
            until = self.window.end.timestamp() + (REPEATS_KEPT_S if self.unit is Unit.REPEATS else KEPT_S)
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "kept_until", until)

    def __hash__(self) -> int:
        return hash(self.text)


class Draw(Struct, frozen=True, gc=False):
    """The most that a request may add to a counter, and the limit it must stay under.

    A request has a draw and two levels for each of its limits, so both are of the kind that is made quickest.
    """

    counter: CounterKey
    amount: int
    limit: int

    @property
    def kept(self) -> int:
        """What stays of it when its hold expires: nothing is in flight then, and all else counts as used."""
        return 0 if self.counter.unit is Unit.CONCURRENT else self.amount


class Level(Struct, frozen=True, gc=False):
    """What a counter shows: used for good, and kept by open holds.

    `firm` is False where the home is away, and this process alone has counted since.
    """

    settled: int = 0
    held: int = 0
    firm: bool = True


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The first draw that did not fit, and the level it met."""

    draw: Draw
    level: Level


class Counters(Protocol):
    """A home of counters.

    Times are seconds since the epoch, given by the caller. Every method may raise `StoreUnavailable`. An end that has
    begun (`settle`, `cancel`) is brought to its end, even when its caller's scope is cancelled meanwhile.
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

    async def redraw(self, hold_id: str, draws: Sequence[Draw]) -> tuple[Level, ...] | Exhausted | None:
        """Let an open hold draw this in place of what it draws, in one step; its lease stays.

        Returns:
            The levels afterwards, one for each draw; or the draw that did not fit, beside what others hold: then it
            draws what it drew; or None when no such hold is open.
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


class Home(Counters, Protocol):
    """A home in a store of its own, which may go away, come back, and have forgotten everything meanwhile."""

    async def reach(self) -> "Memory":
        """Reach the store and say what it remembers; from then on this process counts on just that.

        Raises:
            StoreUnavailable: It does not answer, it cannot do the work, or another process is refilling it.
        """
        ...

    async def remember(self) -> None:
        """Declare the store refilled, after `reach` has found it empty and what is known has been seeded."""
        ...

    async def restore(self, hold_id: str, draws: Sequence[Draw], expires_at: float) -> None:
        """Have a hold that was admitted before draw just this, whatever the limits say now, and whatever it drew."""
        ...

    async def book(self, hold_id: str, draws: Sequence[Draw], actuals: Sequence[int]) -> None:
        """Count what a hold came to, whatever it draws here, or if it was never heard of; again changes nothing."""
        ...

    async def ready(self) -> bool:
        """Say whether holds are taken: not just after a refill, until every process has restored its own."""
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...


class Memory(Enum):
    """What a store remembers: all that this process told it, another's account, or nothing."""

    SAME = "same"
    ANOTHER = "another"
    EMPTY = "empty"
