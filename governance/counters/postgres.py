"""Counters in PostgreSQL: shared by every process, one transaction for each operation.

Counters change in one way only, by `_MOVE`: it locks their rows in the order of their names, whatever the operation, so
that no two transactions wait for each other. An amount that does not fit is found by looking at what the move came to,
and the transaction is rolled back. PostgreSQL does not forget, so nothing here is ever refilled.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self, TypeVar

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from governance.counters import CounterKey, Draw, Exhausted, Level, Memory
from governance.counters.turns import Turns
from governance.database import Database, open_database

SILENCE_S: Final = 0.25
"""Seconds without any answer after which a PostgreSQL that is waited for counts as away."""

AT_ONCE: Final = 8
"""Operations of one process at the same time: on a busy counter they queue in the database, holding a connection."""

_MOVE: Final = text("""
    INSERT INTO counter AS c (key, ends, settled, held, holds)
    SELECT key, ends, settled, held, holds FROM unnest(
        CAST(:keys AS text[]), CAST(:ends AS double precision[]), CAST(:settled AS bigint[]), CAST(:held AS bigint[]),
        CAST(:holds AS bigint[])
    ) WITH ORDINALITY AS move (key, ends, settled, held, holds, n) ORDER BY n
    ON CONFLICT (key) DO UPDATE SET
        settled = c.settled + excluded.settled, held = c.held + excluded.held, holds = c.holds + excluded.holds
    RETURNING key, settled, held
""")
_SEED: Final = text("""
    INSERT INTO counter AS c (key, ends, settled, held, holds) VALUES (:key, :ends, :settled, 0, 0)
    ON CONFLICT (key) DO UPDATE SET settled = greatest(c.settled, excluded.settled)
""")
_READ: Final = text("SELECT key, settled, held FROM counter WHERE key = ANY(CAST(:keys AS text[]))")
_OPEN: Final = text("""
    INSERT INTO counter_hold (id, expires_at, draws) VALUES (:id, :expires_at, CAST(:draws AS json))
    ON CONFLICT (id) DO NOTHING
""")
_FIND: Final = text("SELECT draws FROM counter_hold WHERE id = :id")
_LOCK: Final = text("SELECT draws FROM counter_hold WHERE id = :id FOR UPDATE")
_REDRAW: Final = text("UPDATE counter_hold SET draws = CAST(:draws AS json) WHERE id = :id")
_END: Final = text("DELETE FROM counter_hold WHERE id = :id RETURNING draws")
_EXPIRE: Final = text("""
    DELETE FROM counter_hold WHERE id IN
        (SELECT id FROM counter_hold WHERE expires_at <= :now ORDER BY id LIMIT 500 FOR UPDATE SKIP LOCKED)
    RETURNING id, draws
""")
_FORGET: Final = text("""
    DELETE FROM counter WHERE key IN
        (SELECT key FROM counter WHERE holds = 0 AND ends <= :now FOR UPDATE SKIP LOCKED)
""")
_BOOK: Final = text("INSERT INTO counter_booked (id) VALUES (:id) ON CONFLICT (id) DO NOTHING")
_FORGET_BOOKED: Final = text("DELETE FROM counter_booked WHERE at < now() - interval '1 day'")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Move:
    """A change of one counter."""

    key: str
    ends: float
    settled: int
    held: int
    holds: int

    def __add__(self, other: Self) -> "_Move":
        held, holds = self.held + other.held, self.holds + other.holds
        return _Move(self.key, self.ends, self.settled + other.settled, held, holds)


class _DoesNotFit(Exception):
    def __init__(self, exhausted: Exhausted) -> None:
        self.exhausted = exhausted


class PostgresCounters:
    """The `Home` of several processes that share a PostgreSQL and nothing else."""

    def __init__(self, url: str, *, silence_s: float = SILENCE_S) -> None:
        """Prepare a pool of connections of its own, so that counting never waits for the ledger.

        Args:
            url: `postgresql://…`.
            silence_s: Seconds that it may answer nobody while it is waited for.

        Raises:
            StoreUnavailable: The address is none, or the driver is not installed.
        """
        self._database: Database = open_database(url, connections=AT_ONCE)
        self._turns = Turns("PostgreSQL", AT_ONCE, silence_s)

    async def hold(self, hold_id: str, draws: Sequence[Draw], expires_at: float) -> tuple[Level, ...] | Exhausted:
        """Draw on every counter, or on none; see `Counters.hold`."""
        try:
            return await self._transact(lambda connection: _hold(connection, hold_id, draws, expires_at, limited=True))
        except _DoesNotFit as full:
            return full.exhausted

    async def redraw(self, hold_id: str, draws: Sequence[Draw]) -> tuple[Level, ...] | Exhausted | None:
        """Let an open hold draw this in place of what it draws; see `Counters.redraw`."""
        try:
            return await self._transact(lambda connection: _redraw(connection, hold_id, draws, limited=True))
        except _DoesNotFit as full:
            return full.exhausted

    async def settle(self, hold_id: str, actuals: Sequence[int]) -> tuple[Level, ...] | None:
        """End a hold at what was really used; see `Counters.settle`."""
        return await self._transact(lambda connection: _end(connection, hold_id, actuals))

    async def cancel(self, hold_id: str) -> bool:
        """End a hold as if it had never been; see `Counters.cancel`."""
        return await self._transact(lambda connection: _cancel(connection, hold_id))

    async def expire(self, now: float) -> tuple[str, ...]:
        """End every hold past its lease and forget windows that are over; see `Counters.expire`."""
        late = await self._transact(lambda connection: _expire(connection, now))
        await self._transact(lambda connection: _forget(connection, now))
        return late

    async def seed(self, counter: CounterKey, settled: int) -> None:
        """Raise a counter's settled amount to at least this much; see `Counters.seed`."""
        row = {"key": counter.text, "ends": counter.kept_until, "settled": settled}
        await self._transact(lambda connection: connection.execute(_SEED, row))

    async def read(self, counters: Sequence[CounterKey]) -> tuple[Level, ...]:
        """Read the levels of counters; see `Counters.read`."""
        return await self._transact(lambda connection: _read(connection, [counter.text for counter in counters]))

    async def reach(self) -> Memory:
        """Reach the store; see `Home.reach`. It never forgets."""
        await self.read(())
        return Memory.SAME

    async def remember(self) -> None:
        """Do nothing: it never forgets."""

    async def restore(self, hold_id: str, draws: Sequence[Draw], expires_at: float) -> None:
        """Have a hold that was admitted before draw just this; see `Home.restore`."""
        await self._transact(lambda connection: _hold(connection, hold_id, draws, expires_at, limited=False))

    async def book(self, hold_id: str, draws: Sequence[Draw], actuals: Sequence[int]) -> None:
        """Count what a hold came to, once; see `Home.book`."""
        await self._transact(lambda connection: _book(connection, hold_id, draws, actuals))

    async def ready(self) -> bool:
        """Say that holds are taken."""
        return True

    async def close(self) -> None:
        """Close every connection."""
        await self._turns.close()
        await self._database.close()

    async def _transact(self, work: Callable[[AsyncConnection], Awaitable[_T]]) -> _T:
        async def transaction() -> _T:
            async with self._database.transaction() as connection:
                return await work(connection)

        return await self._turns.take(transaction)


async def _hold(
    connection: AsyncConnection, hold_id: str, draws: Sequence[Draw], expires_at: float, *, limited: bool
) -> tuple[Level, ...]:
    opened = await connection.execute(_OPEN, {"id": hold_id, "expires_at": expires_at, "draws": _rows(draws)})
    if opened.rowcount:
        return await _draw(connection, draws, (), limited=limited)
    if not limited:
        return await _redraw(connection, hold_id, draws, limited=False) or ()
    found = await connection.scalar(_FIND, {"id": hold_id})
    return await _read(connection, [key for key, *_ in found or ()])


async def _redraw(
    connection: AsyncConnection, hold_id: str, draws: Sequence[Draw], *, limited: bool
) -> tuple[Level, ...] | None:
    before = await connection.scalar(_LOCK, {"id": hold_id})
    if before is None:
        return None
    await connection.execute(_REDRAW, {"id": hold_id, "draws": _rows(draws)})
    freed = [_Move(key, ends, 0, -held, -1) for key, ends, held, _ in before]
    return await _draw(connection, draws, freed, limited=limited)


async def _draw(
    connection: AsyncConnection, draws: Sequence[Draw], freed: Sequence[_Move], *, limited: bool
) -> tuple[Level, ...]:
    """Draw what a hold is to draw, and free what it drew before."""
    drawn = [_Move(d.counter.text, d.counter.kept_until, 0, d.amount, 1) for d in draws]
    levels = (await _move(connection, [*drawn, *freed]))[: len(drawn)]
    for draw, level in zip(draws, levels, strict=True):
        if limited and level.settled + level.held > draw.limit:
            raise _DoesNotFit(Exhausted(draw, Level(level.settled, level.held - draw.amount)))
    return levels


async def _cancel(connection: AsyncConnection, hold_id: str) -> bool:
    """Cancel a hold, even one whose transaction was given up and is still to commit.

    A row of our own under its name waits for the end of that transaction, which a look for the hold would not see.
    """
    placed = await connection.execute(_OPEN, {"id": hold_id, "expires_at": 0, "draws": "[]"})
    return await _end(connection, hold_id, None) is not None and not placed.rowcount


async def _expire(connection: AsyncConnection, now: float) -> tuple[str, ...]:
    late = (await connection.execute(_EXPIRE, {"now": now})).all()
    await _move(connection, [_Move(key, ends, kept, -held, -1) for _, draws in late for key, ends, held, kept in draws])
    return tuple(hold_id for hold_id, _ in late)


async def _forget(connection: AsyncConnection, now: float) -> None:
    await connection.execute(_FORGET, {"now": now})
    await connection.execute(_FORGET_BOOKED)


async def _book(connection: AsyncConnection, hold_id: str, draws: Sequence[Draw], actuals: Sequence[int]) -> None:
    if not (await connection.execute(_BOOK, {"id": hold_id})).rowcount:
        return
    await _end(connection, hold_id, None)
    ends = zip(draws, actuals, strict=True)
    await _move(connection, [_Move(d.counter.text, d.counter.kept_until, used, 0, 0) for d, used in ends])


def _rows(draws: Sequence[Draw]) -> str:
    return json.dumps([(d.counter.text, d.counter.kept_until, d.amount, d.kept) for d in draws])


async def _end(connection: AsyncConnection, hold_id: str, actuals: Sequence[int] | None) -> tuple[Level, ...] | None:
    """End a hold at `actuals`, or at nothing for None; None when it is not open."""
    draws = await connection.scalar(_END, {"id": hold_id})
    if draws is None:
        return None
    used = [0] * len(draws) if actuals is None else actuals
    rows = zip(draws, used, strict=True)
    return await _move(connection, [_Move(key, ends, actual, -held, -1) for (key, ends, held, _), actual in rows])


async def _move(connection: AsyncConnection, moves: Sequence[_Move]) -> tuple[Level, ...]:
    """Change counters and return their levels, one for each move."""
    if not moves:
        return ()
    sums = _summed(moves)
    columns = {
        "keys": [move.key for move in sums],
        "ends": [move.ends for move in sums],
        "settled": [move.settled for move in sums],
        "held": [move.held for move in sums],
        "holds": [move.holds for move in sums],
    }
    found = {key: Level(settled, held) for key, settled, held in await connection.execute(_MOVE, columns)}
    return tuple(found[move.key] for move in moves)


def _summed(moves: Iterable[_Move]) -> list[_Move]:
    """One move for each counter, in the order in which every transaction locks them."""
    sums: dict[str, _Move] = {}
    for move in moves:
        sums[move.key] = sums[move.key] + move if move.key in sums else move
    return [sums[key] for key in sorted(sums)]


async def _read(connection: AsyncConnection, keys: Sequence[str]) -> tuple[Level, ...]:
    found = {key: Level(settled, held) for key, settled, held in await connection.execute(_READ, {"keys": list(keys)})}
    return tuple(found.get(key, Level()) for key in keys)
