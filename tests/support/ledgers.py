"""A ledger that keeps what it is told, and can be made to fall behind."""

from dataclasses import dataclass, field

from governance.errors import LedgerBehind
from governance.ledger.events import Entry, EventKind, LedgerAttempt, LedgerEvent


@dataclass
class RecordingLedger:
    """The `Ledger` of the purse, in a list."""

    entries: list[Entry] = field(default_factory=list)
    full: bool = False
    takes_holds: bool = True

    def admit(self) -> None:
        """Let a new request in unless the ledger is full."""
        if self.full:
            raise LedgerBehind(1, "full")

    def append(self, *entries: Entry) -> None:
        """Keep the entries."""
        held = any(isinstance(entry, LedgerEvent) and entry.kind is EventKind.HELD for entry in entries)
        if held and not self.takes_holds:
            raise LedgerBehind(1, "full")
        self.entries.extend(entries)

    @property
    def events(self) -> list[LedgerEvent]:
        """The events alone."""
        return [entry for entry in self.entries if isinstance(entry, LedgerEvent)]

    @property
    def terminal(self) -> list[LedgerEvent]:
        """The events that end a request."""
        return [event for event in self.events if event.kind is not EventKind.HELD]

    @property
    def attempts(self) -> list[LedgerAttempt]:
        """The attempts alone."""
        return [entry for entry in self.entries if isinstance(entry, LedgerAttempt)]
