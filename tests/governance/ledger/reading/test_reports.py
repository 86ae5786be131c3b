"""Reports add up, hide nothing, and read a request back as it was."""

import asyncio
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from governance.attribution import DIMENSIONS, UNATTRIBUTED
from governance.ledger.events import EventKind, LedgerAttempt, LedgerEvent, Opening, Settlement
from governance.ledger.reading.reports import SpendRow, recent_requests, request, spend
from governance.money import ZERO, Nanodollars
from governance.prices import Usage
from tests.support.databases import fresh_database, write
from tests.support.requests import NOON, attempt, opening, usd

pytestmark = pytest.mark.usefixtures("any_database")

SINCE, UNTIL = NOON - timedelta(days=1), NOON + timedelta(days=1)


def settled(asked: Opening, ended: Settlement) -> list[LedgerEvent | LedgerAttempt]:
    event = LedgerEvent(
        kind=EventKind.SETTLED,
        opening=asked,
        held=usd("1"),
        cost=ended.cost,
        settlement=ended,
        status=ended.status,
        duration_ms=12.5,
    )
    return [event, *(LedgerAttempt(asked.request_id, n, made) for n, made in enumerate(ended.attempts, 1))]


def answer(cost: str, usage: Usage | None = None, saved: str = "0") -> Settlement:
    return Settlement(outcome="ok", status=200, attempts=(attempt(usd(cost)),), usage=usage, saved_routing=usd(saved))


async def test_spend_is_listed_dearest_first_with_its_total(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        await write(
            database,
            LedgerEvent(kind=EventKind.HELD, opening=opening("r1", feature="faq"), held=usd("9")),
            *settled(opening("r1", feature="faq"), answer("0.10", Usage(5, 2, output=3, reasoning=1), saved="0.02")),
            *settled(opening("r2", feature="faq"), answer("0.10")),
            *settled(opening("r3"), answer("0.50")),
            LedgerEvent(kind=EventKind.REFUSED, opening=opening("r4"), code="insufficient_quota", status=429),
        )
        report = await spend(database, "feature", SINCE, UNTIL)
    assert report.rows == (
        SpendRow(UNATTRIBUTED, 2, 1, 0, 0, 0, usd("0.50"), ZERO, ZERO, ZERO, ZERO),
        SpendRow("faq", 2, 0, 0, 7, 4, usd("0.20"), ZERO, ZERO, usd("0.02"), ZERO),
    )
    assert report.total == SpendRow("total", 4, 1, 0, 7, 4, usd("0.70"), ZERO, ZERO, usd("0.02"), ZERO)
    assert (report.by, report.since, report.until) == ("feature", SINCE, UNTIL)


async def test_an_empty_ledger_has_an_empty_report(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        report = await spend(database, "team", SINCE, UNTIL)
        assert await recent_requests(database, 10) == ()
        assert await request(database, "nobody") is None
    assert (report.rows, report.total) == ((), SpendRow("total", 0, 0, 0, 0, 0, ZERO, ZERO, ZERO, ZERO, ZERO))


async def test_only_the_eight_dimensions_can_be_asked_for(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        for dimension in DIMENSIONS:
            await spend(database, dimension, SINCE, UNTIL)
        with pytest.raises(ValueError, match="no dimension"):
            await spend(database, "cost_nanos", SINCE, UNTIL)


async def test_a_report_holds_its_first_instant_and_not_its_last(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        for number, at in enumerate((SINCE, UNTIL - timedelta.resolution, UNTIL)):
            await write(database, *settled(opening(f"r{number}", at), answer("1")))
        assert (await spend(database, "team", SINCE, UNTIL)).total.cost == usd("2")


@pytest.mark.parametrize(
    ("cache", "counted"), [("miss", 0), ("bypass", 0), ("exact", 1), ("semantic;similarity=0.97", 1)]
)
async def test_hits_of_either_cache_are_counted(tmp_path: Path, cache: str, counted: int) -> None:
    asked = replace(opening("r1"), cache=cache)
    async with fresh_database(tmp_path) as database:
        await write(database, *settled(asked, Settlement(outcome="ok", status=200, saved_cache=usd("0.03"))))
        assert (await spend(database, "team", SINCE, UNTIL)).total.cached == counted


names = st.sampled_from(["a", "b", UNATTRIBUTED])
requests = st.tuples(st.fixed_dictionaries(dict.fromkeys(DIMENSIONS, names)), st.integers(0, 10**12), st.booleans())


@settings(max_examples=15)
@given(st.lists(requests, max_size=30))
def test_the_rows_of_every_dimension_add_up_to_the_ledger(made: list[tuple[dict[str, str], int, bool]]) -> None:
    async def run() -> None:
        entries: list[LedgerEvent] = []
        for number, (who, nanos, open_still) in enumerate(made):
            asked = opening(f"r{number}", NOON, **who)
            entries.append(LedgerEvent(kind=EventKind.HELD, opening=asked, held=Nanodollars(nanos)))
            if not open_still:
                entries.append(LedgerEvent(kind=EventKind.SETTLED, opening=asked, cost=Nanodollars(nanos)))
        with tempfile.TemporaryDirectory() as folder:
            async with fresh_database(Path(folder)) as database:
                await write(database, *entries)
                reports = [await spend(database, dimension, SINCE, UNTIL) for dimension in DIMENSIONS]
        expected = sum(nanos for _, nanos, open_still in made if not open_still)
        for report in reports:
            assert report.total.cost.nanos == expected
            assert sum((row.cost for row in report.rows), ZERO) == report.total.cost
            assert sum(row.requests for row in report.rows) == report.total.requests

    asyncio.run(run())


async def test_the_latest_requests_come_first_and_those_that_run_are_left_out(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        for number in range(4):
            at = NOON + timedelta(seconds=number)
            await write(database, *settled(opening(f"r{number}", at, team="ab"[number % 2]), answer("0.01")))
        await write(database, LedgerEvent(kind=EventKind.HELD, opening=opening("running", UNTIL)))
        latest = await recent_requests(database, 3)
        of_b = await recent_requests(database, 3, team="b")
    assert [row.request_id for row in latest] == ["r3", "r2", "r1"]
    assert [row.request_id for row in of_b] == ["r3", "r1"]


async def test_a_request_tells_its_story(tmp_path: Path) -> None:
    usage = Usage(fresh_input=5, output=3)
    made = (attempt(usd("0.02"), outcome="failed"), attempt(usd("0.05"), usage))
    ended = Settlement(outcome="ok", status=200, attempts=made, usage=usage, estimated=True)
    async with fresh_database(tmp_path) as database:
        await write(database, *settled(opening("r1", user="ann"), ended))
        detail = await request(database, "r1")
    assert detail is not None
    row = detail.request
    assert (row.kind, row.at, row.model, row.provider, row.route) == ("settled", NOON, "gpt", "openai", "pinned")
    assert (row.cost, row.held, row.estimated, row.end_user) == (usd("0.07"), usd("1"), True, "ann")
    assert (row.input_tokens, row.output_tokens, row.duration_ms) == (5, 3, 12.5)
    assert [(a.n, a.outcome, a.cost, a.input_tokens) for a in detail.attempts] == [
        (1, "failed", usd("0.02"), None),
        (2, "ok", usd("0.05"), 5),
    ]


async def test_a_request_that_runs_is_shown_as_held(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        await write(database, LedgerEvent(kind=EventKind.HELD, opening=opening("r1"), held=usd("0.40")))
        detail = await request(database, "r1")
    assert detail is not None
    assert (detail.request.kind, detail.request.held, detail.attempts) == ("held", usd("0.40"), ())
