"""What requests draw on: the limits of a grant, which cells of the board stand for them, and what budgets ask for.

The limits are the gateway's own: `draws_of` makes them, `resolve` says whose they are, `pressure` what steps do.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from gateway.policy.replay.lanes import track_of
from governance.attribution import UNATTRIBUTED
from governance.counters import Level, Unit
from governance.ledger.reading.traffic import Past
from governance.ledger.tables import EPOCH
from governance.limits import WorstCase, column_of
from governance.limits.draws import draws_of
from governance.limits.scopes import parted
from governance.limits.steps import RELAXED, Pressure, pressure, stepped
from governance.money import ZERO
from governance.windows import SESSION

if TYPE_CHECKING:
    from gateway.policy.replay.lanes import Board, Cell, Track
    from governance.counters import CounterKey
    from governance.limits import Budget
    from governance.limits.loops import Repeats
    from governance.policy.rules import Grant
    from governance.windows import Span

NEVER: Final = 1 << 62
_PLACES: Final = {unit: place for place, unit in enumerate(Unit)}
REPEATS: Final = _PLACES[Unit.REPEATS]
_MODEL: Final = Past._fields.index("model")
_SESSION: Final = Past._fields.index("session")

Amounts = tuple[int, int, int, int, int]
"""What a request adds to counters of each `Unit`, in its order."""


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit of a grant.

    Attributes:
        track: Whose lane it is about.
        place: Which of `Amounts` it counts.
        most: How much may be used.
        value: Whose it is, for each value of a dimension that a grant fixes; else empty.
        column: The place in `Past` of the value that has it to itself; None where the grant says whose it is.
        why: What is said of a call that it stops.
        queues: Such a call waits.
    """

    track: Track
    place: int
    most: int
    value: str
    column: int | None
    why: str
    queues: bool


Drawn = tuple[Sequence["Cell"], int, int, Limit]
"""The cells that a request draws on for a limit, the limit's place, the limit's most, and the limit.

The first cell decides: it is the cover that began first and holds all that the others hold.
"""


class _Felt(NamedTuple):
    """A budget whose steps are felt before it is used up, and where they begin: in hundredths of a nano-dollar."""

    budget: Budget
    begins: Sequence[int]
    track: Track
    value: str
    column: int | None


class _Shared:
    """The limits of one span that all requests of a kind share: their windows end together."""

    __slots__ = ("_limits", "found", "until")

    def __init__(self, limits: Sequence[Limit]) -> None:
        self._limits = limits
        self.until = -NEVER
        self.found: Sequence[Drawn] = ()

    def turn(self, at: int) -> None:
        """Find the cells of an instant."""
        lanes = [(limit, limit.track.lane(limit.value, at)) for limit in self._limits]
        self.found = [(lane.cells, one.place, one.most, one) for one, lane in lanes]
        self.until = min([lane.until for _, lane in lanes])


class Book:
    """The limits of every grant, found once and shared by all who are under them."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self._limits: dict[tuple[Grant, tuple[Repeats, ...]], Limits] = {}
        self._shared: dict[tuple[Limit, ...], _Shared] = {}

    def limits(self, grant: Grant, repeats: tuple[Repeats, ...]) -> Limits:
        """Return what one kind of request is under.

        Args:
            grant: What it may do, with the budgets of its team, app and feature resolved.
            repeats: What it is counted on as a repetition, up to the session that only each request knows.
        """
        found = self._limits.get((grant, repeats))
        if found is None:
            found = self._limits[grant, repeats] = Limits(grant, repeats, self)
        return found

    def together(self, limits: tuple[Limit, ...]) -> _Shared:
        """Return limits whose windows end together, to be turned once for all who are under them."""
        found = self._shared.get(limits)
        if found is None:
            found = self._shared[limits] = _Shared(limits)
        return found


class Limits:
    """All that one kind of request is under; made by `Book.limits`."""

    def __init__(self, grant: Grant, repeats: tuple[Repeats, ...], book: Book) -> None:
        self._columns = {b.of("").scope: Past._fields.index(column_of(b.each)) for b in grant.budgets if b.each}
        self._columns |= {repeat.scope: _SESSION for repeat in repeats}
        self._board = book.board
        budgets = tuple(budget.of("") if budget.each else budget for budget in grant.budgets)
        limits = list(self._limits(grant, budgets, repeats))
        by_span: dict[Span | None, tuple[Limit, ...]] = {}
        for limit in limits:
            if limit.column is None:
                by_span[limit.track.span] = (*by_span.get(limit.track.span, ()), limit)
        self._shared = tuple(map(book.together, by_span.values()))
        self._own = tuple(limit for limit in limits if limit.column is not None)
        self._single = tuple((budget, *self._place(budget)) for budget in budgets if budget.per_request is not None)
        self._felt = tuple(_Felt(budget, _begins(budget), *self._place(budget)) for budget in stepped(budgets))
        self._pressures: dict[tuple[int, ...], Pressure] = {}
        self._until = -NEVER
        self._found: tuple[Drawn, ...] = ()

    def drawn(self, row: Past, model: str) -> Sequence[Drawn]:
        """Return what a request draws on when a model answers it; requests come in order of arrival."""
        at = row[0]
        if at >= self._until:
            self._turn(at)
        if not self._own:
            return self._found
        found = list(self._found)
        for limit in self._own:
            value = model if limit.column == _MODEL else _value(row, limit.column)
            if value:
                found.append((limit.track.lane(value, at).cells, limit.place, limit.most, limit))
        return found

    def pressure(self, row: Past) -> Pressure:
        """Return what the budgets ask of a request, from where they stand before it."""
        if not self._felt:
            return RELAXED
        used = [_used(felt, row) for felt in self._felt]
        # Only which steps are reached matters, and that is the same for very many requests.
        reached = tuple(
            [bisect_right(felt.begins, amount * 100) for felt, amount in zip(self._felt, used, strict=True)]
        )
        found = self._pressures.get(reached)
        if found is None:
            levels = [(felt.budget, Level(amount)) for felt, amount in zip(self._felt, used, strict=True)]
            found = self._pressures[reached] = pressure(levels)
        return found

    def over_alone(self, row: Past, held: int) -> str:
        """Say which limit on single requests a request is over; empty when it is over none."""
        for budget, _, _, column in self._single:
            known = column in {None, _MODEL} or _value(row, column) is not None
            if known and budget.per_request is not None and held > budget.per_request.nanos:
                return f"{parted(budget.scope)[0]} per request"
        return ""

    def _turn(self, at: int) -> None:
        for shared in self._shared:
            if at >= shared.until:
                shared.turn(at)
        self._found = tuple([drawn for shared in self._shared for drawn in shared.found])
        self._until = min([shared.until for shared in self._shared], default=NEVER)

    def _limits(self, grant: Grant, budgets: Sequence[Budget], repeats: Sequence[Repeats]) -> Iterable[Limit]:
        """Find the limits, which are the same at all times; a rolling window's covers are one limit."""
        board = self._board
        draws = draws_of(budgets, grant.rates, WorstCase(ZERO, 0), EPOCH, board.tz, board.calendar, repeats)
        found: dict[object, Limit] = {}
        for draw in draws:
            name, value = track_of(draw.counter)
            queues = any(b.queues and (b.scope, b.window) == (draw.counter.scope, name.span) for b in budgets)
            found[name, value] = Limit(
                track=board.track(name),
                place=_PLACES[draw.counter.unit],
                most=draw.limit,
                value=value,
                column=self._columns.get(draw.counter.scope),
                why=_why(draw.counter),
                queues=queues and draw.counter.unit is Unit.SPEND,
            )
        return found.values()

    def _place(self, budget: Budget) -> tuple[Track, str, int | None]:
        """Return where a budget is counted: its track, its value where one is known, or the column that knows it."""
        draw = draws_of((budget,), (), WorstCase(ZERO, 0), EPOCH, self._board.tz, self._board.calendar)[0]
        name, value = track_of(draw.counter)
        return self._board.track(name), value, self._columns.get(budget.scope)


def first_over(drawn: Iterable[Drawn], amounts: Amounts) -> Limit | None:
    """Return the first limit that has no room for a request; None when it fits into all."""
    for cells, place, most, limit in drawn:
        if cells[0].used + amounts[place] > most:
            return limit
    return None


def add(drawn: Iterable[Drawn], amounts: Amounts) -> None:
    """Count amounts on every cell, whether they fit or not."""
    for cells, place, _, _ in drawn:
        amount = amounts[place]
        if amount:
            for cell in cells:
                cell.used += amount


def have_diverged(drawn: Iterable[Drawn]) -> bool:
    """Say whether any cell stands otherwise than it stood."""
    for cells, _, _, _ in drawn:  # noqa: SIM110  every request asks, and a generator takes twice as long
        if cells[0].diverged:
            return True
    return False


def diverge(drawn: Iterable[Drawn]) -> None:
    """Say that what was drawn is not what was drawn in the past."""
    for cells, _, _, _ in drawn:
        for cell in cells:
            cell.diverged = True


def _begins(budget: Budget) -> Sequence[int]:
    return sorted(step.percent * budget.limit.nanos for step in budget.steps)


def _used(felt: _Felt, row: Past) -> int:
    """Return what is used of a budget that a request is under; less than nothing where it is not."""
    value = felt.value if felt.column is None else _value(row, felt.column)
    return -1 if value is None else felt.track.lane(value, row.at).cells[0].used


def _value(row: Past, column: int | None) -> str | None:
    """Return a request's own value of a dimension, if it has any."""
    value: Any = None if column is None else row[column]
    return value if value and value != UNATTRIBUTED else None


def _why(counter: CounterKey) -> str:
    """Say what a limit is, without the value that it is for: there may be as many as requests."""
    whose, each, _ = parted(counter.scope)
    if counter.unit is Unit.REPEATS:
        return "requests of one session"
    if counter.window is None or counter.unit is not Unit.SPEND:
        return f"{whose} {counter.unit}"
    for_each = f" for each {each}" if each and counter.window.kind != SESSION else ""
    return f"{whose} per {counter.window.kind}{for_each}"
