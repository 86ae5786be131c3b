"""Spans of time, added up: whole hours come from the roll-ups, and only the hours that a cut divides from events."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import add
from typing import Any, Final

from sqlalchemy import ColumnElement, SQLColumnExpression, and_, case, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from governance.attribution import DIMENSIONS
from governance.ledger.events import EventKind
from governance.ledger.rollups import HOUR, ROLLED, SAVINGS
from governance.ledger.tables import LedgerEventRow, LedgerRollupRow, micros
from governance.prices import INPUT, OUTPUT

_E: Final = LedgerEventRow
_R: Final = LedgerRollupRow
ENDED: Final = _E.kind.in_([kind.value for kind in EventKind if kind is not EventKind.HELD])
"""The condition for terminal events. As a list, because SQLite would take `<> 'held'` for a hint to the index of that
condition, which knows no time, and read the whole ledger.
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """What was used: counts, tokens, and nano-dollars."""

    requests: int = 0
    refused: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: int = 0
    saved_cache: int = 0
    saved_prefix: int = 0
    saved_routing: int = 0
    saved_context: int = 0

    @property
    def saved(self) -> int:
        """What was saved, over all levers."""
        return self.saved_cache + self.saved_prefix + self.saved_routing + self.saved_context

    def __add__(self, other: "Figures") -> "Figures":
        return Figures(
            self.requests + other.requests,
            self.refused + other.refused,
            self.cached + other.cached,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost + other.cost,
            self.saved_cache + other.saved_cache,
            self.saved_prefix + other.saved_prefix,
            self.saved_routing + other.saved_routing,
            self.saved_context + other.saved_context,
        )


async def figures(
    connection: AsyncConnection, by: str, cuts: Sequence[datetime], team: str | None = None
) -> dict[tuple[int, str], Figures]:
    """Add up the requests that have ended, between each two neighbouring cuts, by a dimension.

    Args:
        connection: A reading transaction.
        by: One of the eight dimensions.
        cuts: Aware instants in rising order; each span includes its first and excludes its last.
        team: Whose requests; None for all.

    Returns:
        The figures of each span, counted from 0, and value that had any request.

    Raises:
        ValueError: `by` is no dimension.
    """
    if by not in DIMENSIONS:
        raise ValueError(f"{by!r} is no dimension; the dimensions are {', '.join(DIMENSIONS)}")
    marks = [micros(cut) for cut in cuts]
    sums: dict[tuple[int, str], Figures] = defaultdict(Figures)
    for query in _queries(by, marks, team):
        for row in await connection.execute(query):
            column, name, *numbers = tuple(row)
            # PostgreSQL sums 64-bit integers to its exact decimals; they are whole.
            sums[int(column), name] += Figures(*map(int, numbers))
    return dict(sums)


def ended_between(since: datetime, until: datetime) -> ColumnElement[bool]:
    """Return the condition for requests that have ended and arrived in `since <= at < until`."""
    return and_(ENDED, _E.at >= micros(since), _E.at < micros(until))


def _queries(by: str, marks: Sequence[int], team: str | None) -> Iterator[Any]:
    if by in ROLLED:
        yield _hours(by, marks, team)
    if by not in ROLLED or _divided(marks):
        yield _events(by, marks, team)


def _hours(by: str, marks: Sequence[int], team: str | None) -> Any:
    """Query the hours that lie within one span."""
    within = [_R.dimension == by, _R.hour >= -(-marks[0] // HOUR) * HOUR, _R.hour < marks[-1] // HOUR * HOUR]
    if divided := _divided(marks):
        within.append(_R.hour.not_in(divided))
    if team is not None:
        within.append(_R.team == team)
    column, name = _column(_R.hour, marks), _R.value.label("name")
    return select(column, name, *_OF_HOURS).where(*within).group_by(column, name)


def _events(by: str, marks: Sequence[int], team: str | None) -> Any:
    """Query the events of the hours that a cut divides; of all hours, for a dimension without roll-ups."""
    parts = [(hour, hour + HOUR) for hour in _divided(marks)] if by in ROLLED else [(marks[0], marks[-1])]
    # One range for each part, and none around them all: an index is then read at the parts alone.
    ranges = (and_(_E.at >= max(start, marks[0]), _E.at < min(end, marks[-1])) for start, end in parts)
    within = [ENDED, or_(*ranges)]
    if team is not None:
        within.append(_E.team == team)
    column, name = _column(_E.at, marks), _E.__table__.columns[by].label("name")
    return select(column, name, *_OF_EVENTS).where(*within).group_by(column, name)


def _divided(marks: Sequence[int]) -> list[int]:
    return sorted({mark // HOUR * HOUR for mark in marks if mark % HOUR})


def _column(at: SQLColumnExpression[int], marks: Sequence[int]) -> ColumnElement[Any]:
    return case(*((at < end, n) for n, end in enumerate(marks[1:]))).label("column")


def _sum(value: SQLColumnExpression[int]) -> ColumnElement[Any]:
    return func.coalesce(func.sum(value), 0)


def _share(condition: ColumnElement[bool]) -> ColumnElement[Any]:
    return _sum(case((condition, 1), else_=0))


def _tokens(row: type[LedgerRollupRow | LedgerEventRow], classes: Sequence[str]) -> ColumnElement[Any]:
    """Sum classes one by one: a row from before a class was told apart has none of it, and still has the others."""
    return reduce(add, [_sum(row.__table__.columns[name]) for name in classes])


_OF_HOURS: Final = (
    _sum(_R.requests),
    _sum(_R.refused),
    _sum(_R.cached),
    _tokens(_R, INPUT),
    _tokens(_R, OUTPUT),
    _sum(_R.cost_nanos),
    *(_sum(_R.__table__.columns[name]) for name in SAVINGS),
)
_OF_EVENTS: Final = (
    func.count(),
    _share(_E.kind == EventKind.REFUSED.value),
    _share(or_(_E.cache == "exact", _E.cache.startswith("semantic"))),
    _tokens(_E, INPUT),
    _tokens(_E, OUTPUT),
    _sum(_E.cost_nanos),
    *(_sum(_E.__table__.columns[name]) for name in SAVINGS),
)
