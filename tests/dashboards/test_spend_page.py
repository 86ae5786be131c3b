from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from dashboards.ranges import range_of
from dashboards.spend_page import SpendPage, dimension_of, spend_page
from governance.ledger.reading.reports import SpendReport, SpendRow
from governance.ledger.reading.reports_daily import SpendPoint
from governance.money import Nanodollars
from tests.support.spend_reports import request_row, spend_row

NOW = datetime(2026, 11, 26, 15, 42, tzinfo=ZoneInfo("Europe/London"))


def page_of(rows: list[SpendRow], points: list[SpendPoint] | None = None) -> SpendPage:
    span = range_of("7d", NOW)
    total = spend_row(
        "total", cost=sum(row.cost.nanos for row in rows) // 10**9, requests=sum(r.requests for r in rows)
    )
    report = SpendReport("team", span.since, span.until, tuple(rows), total)
    before = SpendReport("team", span.before, span.before_until, (), spend_row("total"))
    return spend_page(span=span, report=report, before=before, points=points or [], latest=[request_row()], now=NOW)


def test_up_to_six_names_have_a_colour_each() -> None:
    page = page_of([spend_row(f"team-{n}", cost=10 - n) for n in range(6)])
    assert [s.colour for s in page.legend] == ["s0", "s1", "s2", "s3", "s4", "s5"]


def test_more_names_than_colours_are_drawn_together_and_nothing_is_lost() -> None:
    rows = [spend_row(f"team-{n}", cost=10 - n) for n in range(8)]
    points = [SpendPoint(2, row.name, 1, 0, 0, row.cost, Nanodollars(0)) for row in rows]
    page = page_of(rows, points)
    assert [s.name for s in page.legend] == ["team-0", "team-1", "team-2", "team-3", "team-4", "all others"]
    drawn = sum(amount.nanos for s in page.legend for amount in s.amounts)
    assert drawn == sum(row.cost.nanos for row in rows)


def test_names_that_spent_nothing_are_in_the_table_but_not_in_the_legend() -> None:
    page = page_of([spend_row("support", cost=1), spend_row("idle", requests=4)])
    assert [s.name for s in page.legend] == ["support"]
    assert [(row.name, row.colour) for row in page.rows] == [("support", "s0"), ("idle", "rest")]


def test_a_dimension_without_end_is_cut_to_a_readable_table_that_still_adds_up() -> None:
    page = page_of([spend_row(f"session-{n}", cost=1, requests=2) for n in range(60)])
    assert len(page.rows) == 51
    assert (page.rows[-1].name, page.rows[-1].requests, page.rows[-1].cost) == ("all others (10)", "20", "$10.00")


def test_a_span_is_captioned_with_its_first_and_last_day() -> None:
    assert page_of([]).caption == "20 November to 26 November 2026"


def test_a_dimension_that_does_not_exist_is_the_team() -> None:
    assert dimension_of("model") == "model"
    assert dimension_of("'; drop table") == "team"
    assert dimension_of(None) == "team"


def test_what_providers_caches_spared_or_cost_is_told_beside_the_other_levers() -> None:
    span = range_of("7d", NOW)
    total = replace(spend_row("total", cost=10, saved=3), saved_prefix=Nanodollars(-(10**9)))
    report, before = (SpendReport("team", span.since, span.until, (), one) for one in (total, spend_row("total")))
    page = spend_page(span=span, report=report, before=before, points=[], latest=[], now=NOW)
    saved = next(tile for tile in page.tiles if tile.key == "saved")
    assert saved.value == "$2.00"
    assert saved.note.endswith("without Sluice: cache $3.00, prefix -$1.00, routing $0.00")


def test_a_figure_without_an_earlier_one_says_that_there_was_none() -> None:
    assert page_of([spend_row("support", cost=1)]).tiles[0].note == "none in the week before"
