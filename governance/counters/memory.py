"""Counters in this process's memory.

No method awaits anything, so each is atomic on its event loop. They are the truth for one process only; several need a
shared home.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import Struct

from governance.counters import CounterKey, Draw, Exhausted, Level


@dataclass(slots=True)
class _Cell:
    """A counter's amounts, and until when they must be kept."""

    kept_until: float = 0.0
    settled: int = 0
    held: int = 0


_NOTHING = _Cell()


class _OpenHold(Struct, frozen=True):
    draws: tuple[Draw, ...]
    cells: tuple[_Cell, ...]
    expires_at: float


class MemoryCounters:
    """The `Counters` of a single process. Memory is bounded by open holds and by the scopes of running windows."""

    def __init__(self) -> None:
        self._cells: dict[str, _Cell] = {}
        self._holds: dict[str, _OpenHold] = {}

    async def hold(self, hold_id: str, draws: Sequence[Draw], expires_at: float) -> tuple[Level, ...] | Exhausted:
        """Draw on every counter, or on none; see `Counters.hold`."""
        open_hold = self._holds.get(hold_id)
        if open_hold is None:
            cells = [self._cells.get(draw.counter.text) or self._cell(draw.counter) for draw in draws]
            rows = tuple(zip(draws, cells, strict=True))
            for draw, cell in rows:
                if cell.settled + cell.held + draw.amount > draw.limit:
                    return Exhausted(draw, Level(cell.settled, cell.held))
            for draw, cell in rows:
                cell.held += draw.amount
            open_hold = self._holds[hold_id] = _OpenHold(tuple(draws), tuple(cells), expires_at)
        return tuple([Level(cell.settled, cell.held) for cell in open_hold.cells])

    async def redraw(self, hold_id: str, draws: Sequence[Draw]) -> tuple[Level, ...] | Exhausted | None:
        """Let an open hold draw this in place of what it draws; see `Counters.redraw`."""
        before = self._holds.pop(hold_id, None)
        if before is None:
            return None
        for draw, cell in zip(before.draws, before.cells, strict=True):
            cell.held -= draw.amount
        taken = await self.hold(hold_id, draws, before.expires_at)
        if isinstance(taken, Exhausted):
            for draw, cell in zip(before.draws, before.cells, strict=True):
                cell.held += draw.amount
            self._holds[hold_id] = before
        return taken

    async def settle(self, hold_id: str, actuals: Sequence[int]) -> tuple[Level, ...] | None:
        """End a hold at what was really used; see `Counters.settle`."""
        open_hold = self._holds.get(hold_id)
        if open_hold is None:
            return None
        if len(actuals) != len(open_hold.draws):
            raise ValueError("one amount for each draw")
        del self._holds[hold_id]
        for draw, cell, actual in zip(open_hold.draws, open_hold.cells, actuals, strict=True):
            cell.held -= draw.amount
            cell.settled += actual
        return tuple([Level(cell.settled, cell.held) for cell in open_hold.cells])

    async def cancel(self, hold_id: str) -> bool:
        """End a hold as if it had never been; see `Counters.cancel`."""
        open_hold = self._holds.get(hold_id)
        return open_hold is not None and await self.settle(hold_id, [0] * len(open_hold.draws)) is not None

    async def expire(self, now: float) -> tuple[str, ...]:
        """End every hold past its lease and forget windows that are over; see `Counters.expire`."""
        late = [(hold_id, hold) for hold_id, hold in self._holds.items() if hold.expires_at <= now]
        for hold_id, hold in late:
            await self.settle(hold_id, [draw.kept for draw in hold.draws])
        self._forget(now)
        return tuple(hold_id for hold_id, _ in late)

    async def seed(self, counter: CounterKey, settled: int) -> None:
        """Raise a counter's settled amount to at least this much; see `Counters.seed`."""
        cell = self._cell(counter)
        cell.settled = max(cell.settled, settled)

    async def read(self, counters: Sequence[CounterKey]) -> tuple[Level, ...]:
        """Read the levels of counters; see `Counters.read`."""
        cells = [self._cells.get(counter.text, _NOTHING) for counter in counters]
        return tuple([Level(cell.settled, cell.held) for cell in cells])

    def _cell(self, counter: CounterKey) -> _Cell:
        cell = self._cells.get(counter.text)
        if cell is None:
            cell = self._cells[counter.text] = _Cell(counter.kept_until)
        return cell

    def _forget(self, now: float) -> None:
        """Drop what is in flight and the counters of windows long over, once no open hold draws on them."""
        used = {id(cell) for hold in self._holds.values() for cell in hold.cells}
        over = [text for text, cell in self._cells.items() if cell.kept_until <= now and id(cell) not in used]
        for text in over:
            del self._cells[text]
