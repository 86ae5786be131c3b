"""The ledger cut in time is the same ledger."""

import tempfile
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from governance.ledger.events import EventKind, LedgerEvent, Settlement
from governance.ledger.reading.reports import spend
from governance.ledger.reading.reports_daily import SpendPoint, spend_over
from governance.money import ZERO, Nanodollars
from tests.support.databases import fresh_database, write
from tests.support.requests import NOON, attempt, opening, usd

pytestmark = pytest.mark.usefixtures("any_database")

HOUR = timedelta(hours=1)


def settled(request_id: str, at: datetime, cost: Nanodollars, cache: str = "miss") -> LedgerEvent:
    asked = replace(opening(request_id, at=at), cache=cache)
    ended = Settlement(outcome="ok", status=200, attempts=(attempt(cost),), saved_cache=usd("1"))
    return LedgerEvent(kind=EventKind.SETTLED, opening=asked, cost=cost, settlement=ended, status=200)


async def test_a_request_belongs_to_the_span_that_its_arrival_begins_or_lies_in(tmp_path: Path) -> None:
    cuts = [NOON, NOON + HOUR, NOON + 2 * HOUR, NOON + 3 * HOUR]
    async with fresh_database(tmp_path) as database:
        await write(
            database,
            settled("before", NOON - timedelta(microseconds=1), usd("8")),
            settled("first", NOON, usd("1")),
            settled("second", NOON + HOUR, usd("2"), cache="exact"),
            settled("also second", NOON + 2 * HOUR - timedelta(microseconds=1), usd("4")),
            settled("after", NOON + 3 * HOUR, usd("8")),
            LedgerEvent(kind=EventKind.HELD, opening=opening("open", at=NOON), held=usd("9")),
            LedgerEvent(kind=EventKind.REFUSED, opening=opening("no", at=NOON), code="overloaded", status=503),
        )
        points = await spend_over(database, "team", cuts)
    team = opening("any").attribution.team
    assert points == (
        SpendPoint(0, team, requests=2, refused=1, cached=0, cost=usd("1"), saved=usd("1")),
        SpendPoint(1, team, requests=2, refused=0, cached=1, cost=usd("6"), saved=usd("2")),
    )


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 299), st.integers(0, 10**12)), max_size=12))
async def test_the_cuts_add_up_to_the_report_of_the_whole(requests: list[tuple[int, int]]) -> None:
    cuts = [NOON + n * HOUR for n in (0, 1, 2, 5)]
    with tempfile.TemporaryDirectory() as folder:
        async with fresh_database(Path(folder)) as database:
            await write(
                database,
                *(
                    settled(f"r{n}", NOON + timedelta(minutes=minute), Nanodollars(cost))
                    for n, (minute, cost) in enumerate(requests)
                ),
            )
            points = await spend_over(database, "model", cuts)
            total = (await spend(database, "model", cuts[0], cuts[-1])).total
            pieces = [(await spend(database, "model", a, b)).total.cost for a, b in pairwise(cuts)]
    assert sum((point.cost for point in points), ZERO) == total.cost
    assert sum(point.requests for point in points) == total.requests
    for column, whole in enumerate(pieces):
        assert sum((point.cost for point in points if point.column == column), ZERO) == whole


async def test_what_is_no_dimension_is_refused(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        with pytest.raises(ValueError, match="no dimension"):
            await spend_over(database, "at", [datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)])
