"""Counters of the past: one lane for each limit's scope, found anew only when a window ends.

A replay takes requests strictly one after another, and a limit asks only what is settled and held together. So a cell
is one integer, where a gateway's counter is two that many tasks share: this is the arithmetic of `MemoryCounters`
without its bookkeeping of names, leases and holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from governance.counters import CounterKey, Unit
from governance.ledger.tables import instant, micros
from governance.limits.scopes import parted
from governance.windows import Calendar

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from governance.windows import Span

_NEVER: Final = 1 << 62
SWEPT_AT_LEAST: Final = 10_000
"""How many lanes there may be before any is forgotten."""


class TrackName(NamedTuple):
    """What is counted together: a scope, up to the value where each value counts by itself, in a unit over a span."""

    scope: str
    unit: Unit
    span: Span | None


class Cell:
    """One counter: what is used of it, settled and held.

    Attributes:
        used: In the unit of its lane.
        diverged: It does not stand as it stood in the past.
    """

    __slots__ = ("diverged", "used")

    def __init__(self) -> None:
        self.used = 0
        self.diverged = False


class Running(NamedTuple):
    """The windows of a span at an instant: their starts, when another set follows, and when the last is over."""

    starts: tuple[int, ...]
    until: int
    over: int


_ALWAYS: Final = Running((0,), _NEVER, _NEVER)


class Lane:
    """The cells of one scope that are counted on now: one on the calendar, one for each cover of a rolling window.

    Attributes:
        cells: Those of the windows that are running, the one that began first at the front.
        until: When other windows run, in microseconds since the epoch.
        over: When none of them runs any more.
    """

    __slots__ = ("_starts", "cells", "over", "until")

    def __init__(self, running: Running) -> None:
        self._starts, self.until, self.over = running
        self.cells = tuple([Cell() for _ in self._starts])

    def turn(self, running: Running) -> None:
        """Go on to other windows; those that went on running keep their cells, and new ones have not diverged."""
        kept = dict(zip(self._starts, self.cells, strict=True))
        self._starts, self.until, self.over = running
        self.cells = tuple([kept.get(start) or Cell() for start in self._starts])

    def cell(self, start: int) -> Cell:
        """Return the cell of the window that began at an instant."""
        return self.cells[self._starts.index(start)]


class Track:
    """The lanes of one scope: one for all its requests, or one for each value of a dimension."""

    __slots__ = ("_board", "lanes", "span")

    def __init__(self, board: Board, span: Span | None) -> None:
        self._board = board
        self.span = span
        self.lanes: dict[str, Lane] = {}

    def lane(self, value: str, at: int) -> Lane:
        """Return the lane of a value (empty for all) at an instant in microseconds, which never goes back."""
        lane = self.lanes.get(value)
        if lane is None:
            self._board.grow(at)
            lane = self.lanes[value] = Lane(self._board.running(self.span, at))
        elif at >= lane.until:
            lane.turn(self._board.running(self.span, at))
        return lane


class Board:
    """Every lane once, so that all who draw on it see that it diverged.

    Memory is bounded by the scopes and values of the windows that run: those of windows that are over are swept out.
    """

    def __init__(self, tz: ZoneInfo) -> None:
        self.calendar = Calendar()
        self.tz = tz
        self.lanes = 0
        self._running: dict[Span, Running] = {}
        self._tracks: dict[TrackName, Track] = {}
        self._sweep_at = SWEPT_AT_LEAST

    def track(self, name: TrackName) -> Track:
        """Return the lanes of a scope."""
        track = self._tracks.get(name)
        if track is None:
            track = self._tracks[name] = Track(self, name.span)
        return track

    def seed(self, counter: CounterKey, used: int, at: int) -> None:
        """Say how much of a counter was used before an instant that lies in its window."""
        if counter.window is not None:
            name, value = track_of(counter)
            self.track(name).lane(value, at).cell(micros(counter.window.start)).used = used

    def running(self, span: Span | None, at: int) -> Running:
        """Return the windows of a span at an instant, mostly without computing them."""
        if span is None:
            return _ALWAYS
        running = self._running.get(span)
        if running is None or at >= running.until:
            found = self.calendar.covers(span, instant(at), self.tz)
            starts = tuple([micros(window.start) for window in found])
            running = self._running[span] = Running(starts, micros(found[0].end), micros(found[-1].end))
        return running

    def grow(self, at: int) -> None:
        """Make room for another lane; when they have become twice as many, forget those whose windows are all over."""
        if self.lanes >= self._sweep_at:
            for track in self._tracks.values():
                track.lanes = {value: lane for value, lane in track.lanes.items() if lane.over > at}
            self.lanes = sum(len(track.lanes) for track in self._tracks.values())
            self._sweep_at = max(SWEPT_AT_LEAST, 2 * self.lanes)
        self.lanes += 1


def track_of(counter: CounterKey) -> tuple[TrackName, str]:
    """Return where a counter is: on which track, and for which value (empty where all share it)."""
    whose, each, value = parted(counter.scope)
    span = None if counter.window is None else counter.window.kind
    return TrackName(f"{whose}?{each}=" if each else whose, counter.unit, span), value
