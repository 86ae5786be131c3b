"""The ledger's writer: entries go into the journal at once, and from there into the database in batches.

What `append` has taken survives the death of the process, and is stored by the next one. While the database is away
entries wait in the journal and storing is tried again; how much may still be spent then is the policy's choice.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Self

from governance.database import Database
from governance.errors import LedgerBehind, StoreUnavailable
from governance.ledger import batches
from governance.ledger.events import Entry, EventKind, LedgerEvent
from governance.ledger.health import LedgerHealth
from governance.ledger.journal.backlog import Backlog
from governance.ledger.journal.spool import Spool
from governance.ledger.journal.writing import SEGMENT_BYTES, SPOOL_BYTES, sync
from governance.ledger.outage import Outage, WhenAway
from governance.ledger.recovery import inherit

FIRST_RETRY_S: Final = 0.05
LAST_RETRY_S: Final = 1.0
STUCK_S: Final = 15.0
"""Seconds after which a batch is given up and tried again; more than SQLite waits for a lock."""

CHECK_S: Final = 0.5
SYNC_S: Final = 1.0
AWAY_SYNC_S: Final = 0.05
_log = logging.getLogger(__name__)


class LedgerWriter:
    """Writes the ledger for as long as its `async with` block lasts, and stores what waits at its end.

    Entering takes over what dead processes left in the spool, so that the ledger is whole before it is asked.
    """

    def __init__(
        self,
        database: Database,
        spool: Path,
        *,
        when_away: WhenAway = "closed",
        memory: int = 10_000,
        batch: int = 200,
        linger_s: float = 0.025,
        drain_s: float = 10.0,
        limit_bytes: int = SPOOL_BYTES,
        segment_bytes: int = SEGMENT_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare a writer.

        Args:
            database: Where to write.
            spool: The folder of the journals; all processes of a home share it.
            when_away: What may be spent while the database is away.
            memory: Records that are kept in memory as well as in the journal.
            batch: Entries in one transaction; so many waiting are written at once.
            linger_s: Seconds an entry may wait for others to share its transaction.
            drain_s: Seconds that closing waits for the queue to empty.
            limit_bytes: Disk space the journal may take.
            segment_bytes: Size of each of its files.
            clock: Monotonic seconds.
        """
        self._database = database
        self._folder = spool
        self._sizes = (limit_bytes, segment_bytes)
        self._memory = memory
        self._batch = batch
        self._linger_s = linger_s
        self._drain_s = drain_s
        self._clock = clock
        self._outage = Outage(when_away, clock)
        self._some, self._enough = asyncio.Event(), asyncio.Event()
        self._closing = False
        self._failure: str | None = None
        self._journal_failure: str | None = None
        self._refusals_dropped = self._rejected = self._damaged = self._stored = 0
        self._backlog: Backlog
        self._tasks: tuple[asyncio.Task[None], ...] = ()

    async def __aenter__(self) -> Self:
        """Start.

        Raises:
            StoreUnavailable: The database does not answer, or the spool cannot be made.
        """
        limit, segment = self._sizes
        try:
            spool = await asyncio.to_thread(Spool.open, self._folder, limit_bytes=limit, segment_bytes=segment)
        except OSError as error:
            raise StoreUnavailable(f"the spool cannot be opened: {error.strerror}") from error
        self._backlog = Backlog(spool.journal, memory=self._memory, clock=self._clock)
        try:
            await self._database.check()
            await batches.warm(self._database)
            taken = await inherit(spool.legacies, self._database)
        except BaseException:
            spool.journal.close(keep=False)
            raise
        self._damaged = taken.damaged
        self._tasks = (
            asyncio.create_task(self._store(), name="ledger writer"),
            asyncio.create_task(self._sync(), name="ledger journal"),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def health(self) -> LedgerHealth:
        """How the writer is doing now."""
        silent = f"no answer for {self._outage.seconds:.0f} s" if self._outage.counts else None
        return LedgerHealth(
            queued=len(self._backlog),
            oldest_s=self._backlog.oldest_s,
            failure=self._failure or silent,
            journal_failure=self._journal_failure,
            journal_bytes=self._backlog.journal.size,
            refusals_dropped=self._refusals_dropped,
            rejected=self._rejected,
            lost=self._backlog.lost,
            damaged=self._damaged,
        )

    def obey(self, when_away: WhenAway) -> None:
        """Let another amount be spent from now on while the database is away."""
        self._outage.obey(when_away)

    def admit(self) -> None:
        """Let a new request in.

        Raises:
            LedgerBehind: The journal cannot be written, or the database is away and the policy wants no more spent.
        """
        if not self._reserve():
            raise LedgerBehind(len(self._backlog), f"its journal cannot be written: {self._journal_failure}")
        self._outage.admit(len(self._backlog))

    def append(self, *entries: Entry) -> None:
        """Record entries that belong together.

        What has been admitted is always taken, in memory when the journal fails. Only a refused request, which nothing
        depends on, is dropped and counted when there is no room.

        Raises:
            LedgerBehind: An entry is a new hold, and may not be spent; nothing was recorded.
        """
        events = [entry for entry in entries if isinstance(entry, LedgerEvent)]
        for event in events:
            if event.kind is EventKind.HELD:
                self._outage.admit(len(self._backlog), event)
            elif event.kind is EventKind.REFUSED and not self._reserve():
                self._refusals_dropped += 1
                entries = tuple(other for other in entries if other is not event)
        if not entries:
            return
        self._queue(entries, events)
        self._some.set()
        if len(self._backlog) >= self._batch:
            self._enough.set()

    async def flush(self, within_s: float = 5.0) -> None:
        """Wait until all that waits now is in the database.

        Raises:
            StoreUnavailable: It takes longer than `within_s` seconds.
        """
        last = self._stored + len(self._backlog)
        try:
            async with asyncio.timeout(within_s):
                while self._stored < last:  # noqa: ASYNC110  seldom needed, so that writing bears no cost of it
                    await asyncio.sleep(self._linger_s / 2)
        except TimeoutError:
            raise StoreUnavailable("the ledger is behind") from None

    async def close(self) -> None:
        """Store what waits and stop. What cannot be stored in time stays in the journal for the next process.

        Raises:
            StoreUnavailable: Something could neither be stored nor journalled, and is lost.
        """
        tasks, self._tasks = self._tasks, ()
        if not tasks:
            return
        self._closing = True
        self._some.set()
        self._enough.set()
        await asyncio.wait(tasks[:1], timeout=self._drain_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        waiting = len(self._backlog)
        if waiting:
            self._reserve()
            _log.warning("%s ledger entries stay in %s for the next start", waiting, self._backlog.journal.folder)
        self._backlog.journal.close(keep=waiting > 0 or self._failure is not None)
        if self._backlog.kept:
            raise StoreUnavailable(f"{self._backlog.kept} ledger entries are lost: {self._journal_failure}")

    def _reserve(self) -> bool:
        """Tell whether the journal has room for what requests in flight may still write; make it if need be."""
        try:
            self._backlog.journal.reserve()
            self._backlog.journal_kept()
        except OSError as error:
            self._journal_failure = error.strerror or type(error).__name__
            return False
        self._journal_failure = None
        return True

    def _queue(self, entries: tuple[Entry, ...], events: Sequence[LedgerEvent]) -> None:
        try:
            self._backlog.add(entries)
        except (UnicodeError, OverflowError) as error:
            self._rejected += len(entries)
            _log.error("a ledger entry cannot be written: %s of %s", error, batches.request_of(entries[0]))
            return
        except OSError as error:
            self._journal_failure = error.strerror or type(error).__name__
            if any(event.kind is EventKind.HELD for event in events):
                raise LedgerBehind(len(self._backlog), f"its journal cannot be written: {error.strerror}") from error
            self._backlog.keep(entries)
        for event in events:
            self._outage.note(event)

    async def _store(self) -> None:
        """Store what waits, batch by batch, and look after the database while nothing does."""
        retry_s = FIRST_RETRY_S
        while self._backlog or not self._closing:
            await self._gather()
            try:
                async with asyncio.timeout(STUCK_S):
                    await self._store_some()
            except Exception as error:  # noqa: BLE001  whatever it is, the journal keeps the entries for another try
                self._failure = error.reason if isinstance(error, StoreUnavailable) else type(error).__name__
                self._outage.begin()
                await asyncio.sleep(retry_s)
                retry_s = min(2 * retry_s, LAST_RETRY_S)
            else:
                self._failure, retry_s = None, FIRST_RETRY_S
                self._outage.end()

    async def _gather(self) -> None:
        """Wait for a first entry, but not for ever, then a moment for others."""
        if not self._backlog:
            self._some.clear()
            await _wait(self._some, CHECK_S)
        if self._backlog and len(self._backlog) < self._batch and not self._closing:
            self._enough.clear()
            await _wait(self._enough, self._linger_s)

    async def _store_some(self) -> None:
        self._outage.begin()
        if self._journal_failure is not None:
            self._reserve()
        batch = self._backlog.first(self._batch)
        if not batch:
            await self._database.check()
            return
        self._database.check_file()
        self._rejected += await batches.store(self._database, batch)
        self._backlog.drop(len(batch))
        self._stored += len(batch)
        journal = self._backlog.journal
        if journal.has_before(journal.end) and await batches.settle_on_disk(self._database):
            journal.release(self._backlog.needed_from)

    async def _sync(self) -> None:
        """Bring the journal to the disk itself, more often while it is all there is."""
        while True:
            await asyncio.sleep(AWAY_SYNC_S if self._outage.seconds > AWAY_SYNC_S else SYNC_S)
            try:
                self._backlog.journal.check()
                if descriptors := self._backlog.journal.borrow_unsynced():
                    await asyncio.to_thread(sync, descriptors)
            except OSError as error:
                self._journal_failure = error.strerror or type(error).__name__


async def _wait(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, but not longer."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass
