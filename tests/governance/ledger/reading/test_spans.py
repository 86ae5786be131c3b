"""Roll-ups and events tell the same, wherever a span is cut."""

import asyncio
import tempfile
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from sqlalchemy import text

from governance.attribution import DIMENSIONS, UNATTRIBUTED
from governance.database import Database
from governance.ledger.batches import store
from governance.ledger.events import EventKind, LedgerEvent, Settlement
from governance.ledger.reading.spans import Figures, figures
from governance.ledger.rollups import HOUR, ROLLED
from governance.money import Nanodollars
from governance.prices import Usage
from tests.support.databases import fresh_database
from tests.support.requests import NOON, attempt, opening

SOON = st.integers(0, 4 * HOUR).map(lambda micros: NOON + timedelta(microseconds=micros))
WHOLE = st.integers(0, 4).map(lambda hours: NOON + timedelta(hours=hours))
moments = st.one_of(SOON, WHOLE)
names = st.sampled_from(["a", "b", UNATTRIBUTED])
counts = st.integers(0, 10**6)
kinds = st.sampled_from([kind for kind in EventKind if kind is not EventKind.HELD])


@st.composite
def endings(draw: st.DrawFn) -> LedgerEvent:
    """How some request ended; its id is the test's to give."""
    who = draw(st.fixed_dictionaries(dict.fromkeys(DIMENSIONS, names)))
    asked = replace(opening("r", draw(moments), **who), cache=draw(st.sampled_from(["miss", "exact", "semantic;0.9"])))
    usage = draw(st.none() | st.builds(Usage, **dict.fromkeys(Usage.__struct_fields__, counts)))
    cost = Nanodollars(draw(st.integers(0, 10**15)))
    cached, kept, routed = (Nanodollars(draw(st.integers(-(10**12), 10**12))) for _ in range(3))
    made = replace(attempt(cost), saved_prefix=kept)
    ended = Settlement(
        outcome="ok", status=200, attempts=(made, made), usage=usage, saved_cache=cached, saved_routing=routed
    )
    return LedgerEvent(kind=draw(kinds), opening=asked, cost=cost, settlement=ended)


def of(event: LedgerEvent) -> Figures:
    ended = event.settlement
    assert ended is not None
    usage = ended.usage or Usage()
    return Figures(
        requests=1,
        refused=int(event.kind is EventKind.REFUSED),
        cached=int(event.opening.cache != "miss"),
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost=event.cost.nanos,
        saved_cache=ended.saved_cache.nanos,
        saved_prefix=ended.saved_prefix.nanos,
        saved_routing=ended.saved_routing.nanos,
    )


def added_up(
    events: list[LedgerEvent], by: str, cuts: list[datetime], team: str | None
) -> dict[tuple[int, str], Figures]:
    sums: dict[tuple[int, str], Figures] = {}
    for event in events:
        who = event.opening.attribution
        name = event.opening.model if by == "model" else getattr(who, by)
        for column, (start, end) in enumerate(pairwise(cuts)):
            if start <= event.opening.at < end and team in {None, who.team}:
                sums[column, name] = sums.get((column, name), Figures()) + of(event)
    return sums


async def rollups(database: Database) -> list[tuple[object, ...]]:
    async with database.reading() as connection:
        found = await connection.execute(text("SELECT * FROM ledger_rollup ORDER BY dimension, hour, team, value"))
        return [tuple(row) for row in found]


@settings(max_examples=25)
@given(
    st.lists(endings(), max_size=25),
    st.lists(moments, min_size=2, max_size=6, unique=True).map(sorted),
    st.none() | names,
    st.integers(1, 10),
)
def test_every_cut_of_the_ledger_adds_up_to_its_events(
    ended: list[LedgerEvent], cuts: list[datetime], team: str | None, batch: int
) -> None:
    events = [
        replace(event, opening=replace(event.opening, request_id=f"r{number}")) for number, event in enumerate(ended)
    ]

    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with fresh_database(Path(folder)) as database:
                for start in range(0, len(events), batch):
                    await store(database, events[start : start + batch])
                    await store(database, events[: start + 1])  # again, which changes nothing
                async with database.reading() as connection:
                    for by in DIMENSIONS:
                        assert await figures(connection, by, cuts, team) == added_up(events, by, cuts, team)

    asyncio.run(run())


async def test_a_request_is_counted_in_the_hour_of_its_arrival_however_late_it_ends(tmp_path: Path) -> None:
    asked = opening("r1", NOON - timedelta(microseconds=1))
    late = LedgerEvent(kind=EventKind.SETTLED, opening=asked, cost=Nanodollars(5), duration_ms=7_200_000)
    async with fresh_database(tmp_path) as database:
        await store(database, [late])
        hours = {row[1] for row in await rollups(database)}
    assert hours == {(int(NOON.timestamp()) - 3600) * 1_000_000}


async def test_of_two_endings_the_first_is_rolled_up(tmp_path: Path) -> None:
    first = LedgerEvent(kind=EventKind.SETTLED, opening=opening("r1"), cost=Nanodollars(5))
    second = replace(first, kind=EventKind.EXPIRED, cost=Nanodollars(900))
    async with fresh_database(tmp_path) as database:
        await store(database, [first, second])
        await store(database, [second])
        async with database.reading() as connection:
            found = await figures(connection, "team", (NOON, NOON + timedelta(hours=1)))
    assert found == {(0, "support"): Figures(requests=1, cost=5)}


async def test_there_is_a_row_for_each_dimension_but_the_session(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        await store(database, [LedgerEvent(kind=EventKind.CANCELLED, opening=opening("r1"))])
        await store(database, [LedgerEvent(kind=EventKind.HELD, opening=opening("r2"))])
        assert sorted(str(row[0]) for row in await rollups(database)) == sorted(ROLLED)


async def test_something_else_than_a_dimension_is_refused(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database, database.reading() as connection:
        with pytest.raises(ValueError, match="no dimension"):
            await figures(connection, "cost_nanos", (NOON, NOON + timedelta(hours=1)))
