"""How the ledger's writer is doing, as values and as sentences."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerHealth:
    """How the writer is doing.

    Attributes:
        queued: Entries that are not stored yet.
        oldest_s: Seconds that the first of them has waited.
        failure: Why the database does not take entries; None when it does.
        journal_failure: Why the journal cannot be written; None when it can.
        journal_bytes: Disk space that the journal has set aside.
        refusals_dropped: Refused requests that were counted but not recorded, because there was no room.
        rejected: Entries of this process that nothing would take; each is in the log.
        lost: Entries of this process that could not be read back from the journal.
        damaged: Places in the journals of dead processes that could not be read; the files are kept in the spool.
    """

    queued: int
    oldest_s: float
    failure: str | None
    journal_failure: str | None
    journal_bytes: int
    refusals_dropped: int
    rejected: int
    lost: int
    damaged: int

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the ledger is not as it should be, in sentences; none when it is."""
        found: list[str] = []
        if self.failure is not None:
            found.append(f"The ledger cannot be written: {self.failure}.")
        if self.journal_failure is not None:
            found.append(f"The ledger's journal cannot be written: {self.journal_failure}.")
        if self.rejected:
            found.append(f"The ledger lacks {self.rejected} entries that the database rejected; the log names them.")
        if self.lost:
            found.append(f"The ledger lacks {self.lost} entries that its journal could not read back.")
        return tuple(found)
