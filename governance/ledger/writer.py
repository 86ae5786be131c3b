"""The ledger's writer: entries go into a queue at once and into the database in batches, beside the requests.

While the database is away the queue grows and writing is tried again; when the queue is full no new request is let in.
What has been admitted is never turned away, so the queue can outgrow its limit by the requests in flight.
"""

import asyncio
import logging
from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import Final, Self

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite

from governance.database import Database
from governance.errors import LedgerBehind, StoreUnavailable
from governance.ledger.events import EventKind, LedgerAttempt, LedgerEvent
from governance.ledger.rows import attempt_row, event_row
from governance.ledger.tables import LedgerAttemptRow, LedgerEventRow

FIRST_RETRY_S: Final = 0.05
LAST_RETRY_S: Final = 2.0
_INSERTS: Final = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LedgerHealth:
    """How the writer is doing.

    Attributes:
        queued: Entries that wait.
        failure: Why the last write failed; None when it did not.
        refusals_dropped: Refused requests that were counted but not recorded, because the queue was full.
        rejected: Entries that the database would not take; each is in the log.
    """

    queued: int
    failure: str | None
    refusals_dropped: int
    rejected: int


class LedgerWriter:
    """Writes the ledger for as long as its `async with` block lasts, and drains the queue at its end."""

    def __init__(
        self,
        database: Database,
        *,
        limit: int = 20_000,
        batch: int = 200,
        linger_s: float = 0.025,
        drain_s: float = 10.0,
    ) -> None:
        """Prepare a writer.

        Args:
            database: Where to write.
            limit: Entries in the queue from which on no new request is let in.
            batch: Entries in one transaction, at most; so many waiting are written at once.
            linger_s: Seconds an entry may wait for others to share its transaction.
            drain_s: Seconds that closing waits for the queue to empty.
        """
        self._database = database
        self._limit = limit
        self._batch = batch
        self._linger_s = linger_s
        self._drain_s = drain_s
        self._queue: deque[LedgerEvent | LedgerAttempt] = deque()
        self._some, self._enough = asyncio.Event(), asyncio.Event()
        self._closing = False
        self._failure: str | None = None
        self._refusals_dropped = 0
        self._rejected = 0
        self._written = 0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run(), name="ledger writer")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def behind(self) -> bool:
        """Whether the last write failed or the queue is full."""
        return self._failure is not None or len(self._queue) >= self._limit

    @property
    def health(self) -> LedgerHealth:
        """How the writer is doing now."""
        return LedgerHealth(len(self._queue), self._failure, self._refusals_dropped, self._rejected)

    def admit(self) -> None:
        """Let a new request in.

        Raises:
            LedgerBehind: The queue is full.
        """
        if len(self._queue) >= self._limit:
            raise LedgerBehind(len(self._queue), self._limit)

    def append(self, *entries: LedgerEvent | LedgerAttempt) -> None:
        """Queue entries. Only a refused request, which nothing depends on, is dropped and counted when it is full."""
        for entry in entries:
            if isinstance(entry, LedgerEvent) and entry.kind is EventKind.REFUSED and len(self._queue) >= self._limit:
                self._refusals_dropped += 1
                continue
            self._queue.append(entry)
        if self._queue:
            self._some.set()
        if len(self._queue) >= self._batch:
            self._enough.set()

    async def flush(self, within_s: float = 5.0) -> None:
        """Wait until all that is queued now is in the database.

        Raises:
            StoreUnavailable: It takes longer than `within_s` seconds.
        """
        last = self._written + len(self._queue)
        try:
            async with asyncio.timeout(within_s):
                while self._written < last:  # noqa: ASYNC110  seldom needed, so that writing bears no cost of it
                    await asyncio.sleep(self._linger_s / 2)
        except TimeoutError:
            raise StoreUnavailable("the ledger is behind") from None

    async def close(self) -> None:
        """Write what is queued and stop.

        Raises:
            StoreUnavailable: The database took too long; what was left is lost, except that holds without an end are
                found at the next start.
        """
        task, self._task = self._task, None
        if task is None:
            return
        self._closing = True
        self._some.set()
        self._enough.set()
        _, unfinished = await asyncio.wait({task}, timeout=self._drain_s)
        if unfinished:
            task.cancel()
            await asyncio.wait({task})
            raise StoreUnavailable(f"{len(self._queue)} ledger entries could not be written: {self._failure}")
        task.result()

    async def _run(self) -> None:
        retry_s = FIRST_RETRY_S
        while self._queue or not self._closing:
            await self._gather()
            batch = list(islice(self._queue, self._batch))
            if not batch:
                continue
            try:
                await self._write(batch)
            except StoreUnavailable as error:
                self._failure = error.reason
                await asyncio.sleep(retry_s)
                retry_s = min(2 * retry_s, LAST_RETRY_S)
                continue
            self._failure, retry_s = None, FIRST_RETRY_S
            for _ in batch:
                self._queue.popleft()
            self._written += len(batch)

    async def _gather(self) -> None:
        """Wait for a first entry, then a moment for others."""
        if not self._queue:
            self._some.clear()
            await self._some.wait()
        if len(self._queue) < self._batch and not self._closing:
            self._enough.clear()
            try:
                async with asyncio.timeout(self._linger_s):
                    await self._enough.wait()
            except TimeoutError:
                pass

    async def _write(self, entries: list[LedgerEvent | LedgerAttempt]) -> None:
        """Write a batch in one transaction; where the database rejects an entry, all but that one."""
        try:
            await self._insert(entries)
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001  whatever is wrong with one entry, those behind it must get through
            if len(entries) > 1:
                middle = len(entries) // 2
                await self._write(entries[:middle])
                await self._write(entries[middle:])
                return
            self._rejected += 1
            _log.error("the database rejects a ledger entry: %s of %s", type(error).__name__, _request_of(entries[0]))

    async def _insert(self, entries: list[LedgerEvent | LedgerAttempt]) -> None:
        events = [event_row(entry) for entry in entries if isinstance(entry, LedgerEvent)]
        attempts = [attempt_row(entry) for entry in entries if isinstance(entry, LedgerAttempt)]
        insert = _INSERTS[self._database.dialect]
        async with self._database.transaction() as connection:
            for table, rows in ((LedgerEventRow.__table__, events), (LedgerAttemptRow.__table__, attempts)):
                if rows and isinstance(table, Table):
                    await connection.execute(insert(table).on_conflict_do_nothing(), rows)


def _request_of(entry: LedgerEvent | LedgerAttempt) -> str:
    return entry.opening.request_id if isinstance(entry, LedgerEvent) else entry.request_id
