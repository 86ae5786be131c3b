"""Stored answers on disk: SQLite with a write-ahead log, in a thread of its own, so that the loop never waits for it.

What is committed outlives the process, kill -9 included; a loss of power may take what the system had not yet written,
and never makes an answer of the rest: each record has its own digest (`record.py`), and a file that is no database any
more is begun anew. Several processes of one machine may share the file.

What saves most per byte stays (`gdsf.py` says how, here said in SQL): hits are counted in memory and written with the
next answer.
"""

from __future__ import annotations

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Final, TypeVar

from cache.stores import StoreSize, weight
from cache.stores.record import pack, unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from cache.stores import Stored

_SCHEMA: Final = files(__package__ or "").joinpath("disk.sql").read_text("utf-8")
_VERSION: Final = 1
_BUSY_S: Final = 2.0
_AT_ONCE: Final = 64
_PURGES_KEPT_S: Final = 86_400.0
_DISK: Final = frozenset({
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
})  # fmt: skip
ValueT = TypeVar("ValueT")


class DiskAnswers:
    """An `AnswerStore` in a file. A disk that does not do what it should is a miss, never an error."""

    def __init__(self, path: Path, max_bytes: int, clock: Callable[[], float]) -> None:
        """Prepare; the file is opened when first used, and made with its folder where there is none.

        Args:
            path: The file; SQLite puts two more beside it.
            max_bytes: The most that answers may count for (`weight`).
            clock: Seconds since 1970.
        """
        self._path = path
        self._max_bytes = max_bytes
        self._clock = clock
        self._thread = ThreadPoolExecutor(1, "answers")
        self._sure = True
        self._file: sqlite3.Connection | None = None
        self._hits: dict[bytes, int] = {}

    @property
    def sure(self) -> bool:
        """Whether the disk did as it was asked just now; see `AnswerStore.sure`."""
        return self._sure

    async def get(self, key: bytes) -> Stored | None:
        """Return the answer, or None when there is none, it has expired, or it is not as it was written."""
        found = await self.get_until(key)
        return None if found is None else found[0]

    async def get_until(self, key: bytes) -> tuple[Stored, float] | None:
        """Return the answer and the instant at which it expires; see `get`."""
        return await self._do(partial(self._get, key), None)

    async def put(self, key: bytes, stored: Stored, ttl: float) -> None:
        """Keep the answer for `ttl` seconds, dropping what saves least per byte as needed."""
        now = self._clock()
        await self._do(partial(self._put, key, stored, now, now + ttl), None)

    async def delete(self, key: bytes) -> bool:
        """Forget the answer; tell whether there was one."""
        return await self._do(partial(self._delete, key), default=False)

    async def purge(self, tag: str, before: float) -> int:
        """Forget all answers with this tag asked for by then; see `AnswerStore.purge`."""
        return await self._do(partial(self._purge, tag, before), 0)

    async def size(self) -> StoreSize:
        """Count what is kept."""
        return await self._do(self._size, StoreSize(0, 0))

    async def close(self) -> None:
        """Close the file, with all that is to be written."""
        await self._do(self._close, None)
        self._thread.shutdown(wait=False)

    async def _do(self, work: Callable[[], ValueT], default: ValueT) -> ValueT:
        done = await asyncio.get_running_loop().run_in_executor(self._thread, self._guarded, work)
        self._sure = done is not None  # set here and not in the thread: who waited learns of its own work
        return default if done is None else done[0]

    def _guarded(self, work: Callable[[], ValueT]) -> tuple[ValueT] | None:
        """Work, in the thread; None for a disk in trouble, which is as if there were nothing there."""
        try:
            return (work(),)
        except Exception as error:  # noqa: BLE001  a damaged file has more ways to fail than SQLite has names for
            with suppress(sqlite3.Error, OSError):
                self._let_go()
                if not _may_pass(error):
                    for end in ("", "-wal", "-shm"):
                        self._path.with_name(self._path.name + end).unlink(missing_ok=True)
        return None

    def _open(self) -> sqlite3.Connection:
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.touch(0o600)  # answers are their owners' own; what SQLite puts beside it has the same mode
            file = sqlite3.connect(self._path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
            self._file = file
            file.execute("PRAGMA journal_mode = WAL")
            file.execute("PRAGMA synchronous = NORMAL")
            if file.execute("PRAGMA user_version").fetchone()[0] not in {0, _VERSION}:
                raise sqlite3.DatabaseError("written by another version")
            file.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;")
        return self._file

    def _let_go(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _get(self, key: bytes) -> tuple[Stored, float] | None:
        row = self._open().execute("SELECT record FROM answer WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        found = unpack(key, row[0])
        if found is None or found[1] <= self._clock():
            self._delete(key)
            return None
        self._hits[key] = self._hits.get(key, 0) + 1
        return found

    def _put(self, key: bytes, stored: Stored, now: float, expires: float) -> None:
        size, nanos = weight(stored), max(1, stored.cost_nanos)
        with _transaction(self._open()) as file:
            file.execute("DELETE FROM answer WHERE key = ?", (key,))
            if expires <= now or size > self._max_bytes or self._is_purged(file, stored):
                return
            self._write_hits(file)
            self._make_room(file, size, now)
            row = (key, pack(key, stored, expires), stored.created, expires, size, nanos, nanos / size)
            file.execute(
                "INSERT INTO answer (key, record, created, expires, bytes, nanos, priority)"
                " SELECT ?, ?, ?, ?, ?, ?, ? + clock FROM total",
                row,
            )
            file.executemany("INSERT OR IGNORE INTO tag VALUES (?, ?)", [(tag, key) for tag in stored.tags])

    def _write_hits(self, file: sqlite3.Connection) -> None:
        hits, self._hits = self._hits, {}
        file.executemany(
            "UPDATE answer SET hits = hits + ?1,"
            " priority = (SELECT clock FROM total) + (hits + ?1) * CAST(nanos AS REAL) / bytes WHERE key = ?2",
            [(count, key) for key, count in hits.items()],
        )

    def _make_room(self, file: sqlite3.Connection, size: int, now: float) -> None:
        over = self._total(file) + size - self._max_bytes
        if over <= 0:
            return
        file.execute("DELETE FROM answer WHERE expires <= ?", (now,))
        file.execute("DELETE FROM purged WHERE before <= ?", (now - _PURGES_KEPT_S,))
        while (over := self._total(file) + size - self._max_bytes) > 0:
            query = "SELECT key, bytes, priority FROM answer ORDER BY priority LIMIT ?"
            for key, freed, priority in file.execute(query, (_AT_ONCE,)).fetchall():
                if over > 0:
                    file.execute("DELETE FROM answer WHERE key = ?", (key,))
                    file.execute("UPDATE total SET clock = ?", (priority,))
                    over -= freed

    def _is_purged(self, file: sqlite3.Connection, stored: Stored) -> bool:
        query = "SELECT 1 FROM purged WHERE tag = ? AND before >= ?"
        return any(file.execute(query, (tag, stored.created)).fetchone() for tag in stored.tags)

    def _delete(self, key: bytes) -> bool:
        return self._open().execute("DELETE FROM answer WHERE key = ?", (key,)).rowcount > 0

    def _purge(self, tag: str, before: float) -> int:
        with _transaction(self._open()) as file:
            file.execute(
                "INSERT INTO purged VALUES (?, ?) ON CONFLICT DO UPDATE SET before = max(before, excluded.before)",
                (tag, before),
            )
            query = "DELETE FROM answer WHERE created <= ? AND key IN (SELECT key FROM tag WHERE tag = ?)"
            return file.execute(query, (before, tag)).rowcount

    def _size(self) -> StoreSize:
        return StoreSize(*self._open().execute("SELECT entries, bytes FROM total").fetchone())

    def _total(self, file: sqlite3.Connection) -> int:
        return file.execute("SELECT bytes FROM total").fetchone()[0]

    def _close(self) -> None:
        if self._file is not None:
            with _transaction(self._file) as file:
                self._write_hits(file)
            self._let_go()


def _may_pass(error: Exception) -> bool:
    """Say whether a failure is the disk's and not the file's: it is full, busy, or not ours to write."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, OSError) if code is None else code & 0xFF in _DISK


@contextmanager
def _transaction(file: sqlite3.Connection) -> Generator[sqlite3.Connection]:
    file.execute("BEGIN IMMEDIATE")
    try:
        yield file
    except BaseException:
        file.execute("ROLLBACK")
        raise
    file.execute("COMMIT")
