"""What a purse and its holds share: where they count, where they write, and which holds are open."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from governance.counters import Counters
from governance.ledger.events import EventKind, LedgerAttempt, LedgerEvent, Opening, Settlement
from governance.limits import WorstCase
from governance.money import ZERO, Nanodollars


class Ledger(Protocol):
    """Where the purse writes. Writing never waits; `governance.ledger.writer.LedgerWriter` is the real one."""

    def admit(self) -> None:
        """Let a new request in, or raise `LedgerBehind`."""
        ...

    def append(self, *entries: LedgerEvent | LedgerAttempt) -> None:
        """Queue entries that belong together. What has been admitted is always taken."""
        ...


class Held(Protocol):
    """What the till knows of an open hold."""

    opening: Opening
    worst: WorstCase


@dataclass(slots=True)
class Till:
    """The counters, the ledger and the open holds of one purse; `foreign` are holds that no one here had open."""

    counters: Counters
    ledger: Ledger
    clock: Callable[[], float]
    open: dict[str, Held] = field(default_factory=dict)
    foreign: set[str] = field(default_factory=set)

    def elapsed_ms(self, opening: Opening) -> float:
        """How long a request has been running."""
        return max(0.0, (self.clock() - opening.at.timestamp()) * 1000)

    def attempts(self, opening: Opening, settlement: Settlement) -> None:
        """Write the upstream calls of a request."""
        attempts = enumerate(settlement.attempts, 1)
        self.ledger.append(*[LedgerAttempt(opening.request_id, n, attempt) for n, attempt in attempts])

    def settle(self, opening: Opening, held: Nanodollars, settlement: Settlement) -> None:
        """Write the end of a request that was settled."""
        self.end(
            EventKind.SETTLED,
            opening,
            held=held,
            cost=settlement.cost,
            code=settlement.code,
            status=settlement.status,
            settlement=settlement,
        )

    def end(
        self,
        kind: EventKind,
        opening: Opening,
        *,
        held: Nanodollars = ZERO,
        cost: Nanodollars = ZERO,
        code: str = "",
        status: int | None = None,
        settlement: Settlement | None = None,
    ) -> None:
        """Write the one terminal event of a request."""
        self.ledger.append(
            LedgerEvent(
                kind=kind,
                opening=opening,
                held=held,
                cost=cost,
                code=code,
                status=status,
                settlement=settlement,
                duration_ms=self.elapsed_ms(opening),
            )
        )

    def expire(self, hold_id: str) -> bool:
        """Write the end of a hold that its lease has ended; False when it is written, or another process's to write."""
        hold = self.open.pop(hold_id, None)
        if hold is not None:
            self.end(EventKind.EXPIRED, hold.opening, held=hold.worst.cost, cost=hold.worst.cost)
        return hold is not None
