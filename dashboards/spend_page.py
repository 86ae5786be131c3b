"""The spend page: from reports to what its template shows. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from markupsafe import Markup

from dashboards import ranges
from dashboards.charts import NARROW, WIDE, Series, share_bar, stacked_bars
from dashboards.figures import NOTHING, count, share, short_count, usd
from dashboards.latest import Line, line
from dashboards.ranges import Range
from dashboards.tiles import Tile, tiles
from governance.ledger.reading.reports import RequestRow, SpendReport, SpendRow
from governance.ledger.reading.reports_daily import SpendPoint
from governance.money import ZERO, Nanodollars
from governance.names import shown

DIMENSIONS = ("team", "app", "feature", "model", "workflow", "segment", "environment", "session")
_COLOURS = ("s0", "s1", "s2", "s3", "s4", "s5")
_REST_COLOUR, _REST_NAME = "rest", "all others"
_ROWS = 50  # of the table; a dimension such as the session has no end of values


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A choice that is a URL, and whether it is the one in force."""

    text: str
    href: str
    current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of the totals in words; `exact` is its cost to the last nano-dollar."""

    name: str
    colour: str
    cost: str
    exact: str
    share: str
    bar: Markup
    saved: str
    requests: str
    cached: str
    refused: str
    tokens_in: str
    tokens_out: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendPage:
    """Everything the template shows; `is_new` when the ledger holds no request at all."""

    by: str
    caption: str
    zone: str
    is_new: bool
    ranges: tuple[Link, ...]
    groupings: tuple[Link, ...]
    tiles: tuple[Tile, ...]
    legend: tuple[Series, ...]
    charts: tuple[Markup, ...]
    rows: tuple[Row, ...]
    total: Row
    latest: tuple[Line, ...]


def dimension_of(asked: str | None) -> str:
    """Return the dimension a URL asks for, or `team` for one that does not exist."""
    return asked if asked in DIMENSIONS else DIMENSIONS[0]


def spend_page(
    *,
    span: Range,
    report: SpendReport,
    before: SpendReport,
    points: Sequence[SpendPoint],
    latest: Sequence[RequestRow],
    now: datetime,
) -> SpendPage:
    """Compose the page of one span from what the ledger says of it.

    Args:
        span: what is shown.
        report: the spend of the span.
        before: the spend of the span it is compared with.
        points: the spend of each of the span's columns, by the report's dimension.
        latest: the latest requests of all.
        now: an aware time in the zone whose days count.
    """
    series = _series(report, points, len(span.columns))
    colours = {s.name: s.colour for s in series}
    label = f"Spend by {report.by}, {ranges.NAMES[span.key].lower()}"
    return SpendPage(
        by=report.by,
        caption=_caption(span, now),
        zone=str(now.tzinfo),
        is_new=not latest,
        ranges=tuple(_link(name, key, report.by, span.key == key) for key, name in ranges.NAMES.items()),
        groupings=tuple(_link(d.capitalize(), span.key, d, report.by == d) for d in DIMENSIONS),
        tiles=tiles(span, report, before, points),
        legend=series,
        charts=tuple(
            stacked_bars(span.columns, series, size=size, label=label)
            for size in (WIDE, NARROW)
            if report.total.cost > ZERO
        ),
        rows=tuple(_row(r, report.total.cost, colours.get(shown(r.name), _REST_COLOUR)) for r in _shown(report.rows)),
        total=_row(report.total, report.total.cost, ""),
        latest=tuple(line(r, now) for r in latest),
    )


def _series(report: SpendReport, points: Sequence[SpendPoint], columns: int) -> tuple[Series, ...]:
    """Give the dearest names a colour each, and one to all others together."""
    spending = [row.name for row in report.rows if row.cost > ZERO]
    named = spending if len(spending) <= len(_COLOURS) else spending[: len(_COLOURS) - 1]
    runs = {name: [ZERO] * columns for name in named}
    rest = [ZERO] * columns
    for point in points:
        run = runs.get(point.name, rest)
        run[point.column] += point.cost
    series = [
        Series(name=shown(name), colour=c, amounts=tuple(runs[name])) for name, c in zip(named, _COLOURS, strict=False)
    ]
    if len(named) < len(spending):
        series.append(Series(name=_REST_NAME, colour=_REST_COLOUR, amounts=tuple(rest)))
    return tuple(series)


def _shown(rows: Sequence[SpendRow]) -> Sequence[SpendRow]:
    """Keep the table readable: the dearest rows, and what all the others make together."""
    if len(rows) <= _ROWS:
        return rows
    return (*rows[:_ROWS], _sum(f"{_REST_NAME} ({count(len(rows) - _ROWS)})", rows[_ROWS:]))


def _sum(name: str, rows: Sequence[SpendRow]) -> SpendRow:
    return SpendRow(
        name=name,
        requests=sum(r.requests for r in rows),
        refused=sum(r.refused for r in rows),
        cached=sum(r.cached for r in rows),
        input_tokens=sum(r.input_tokens for r in rows),
        output_tokens=sum(r.output_tokens for r in rows),
        cost=sum((r.cost for r in rows), ZERO),
        saved_cache=sum((r.saved_cache for r in rows), ZERO),
        saved_prefix=sum((r.saved_prefix for r in rows), ZERO),
        saved_routing=sum((r.saved_routing for r in rows), ZERO),
        saved_context=sum((r.saved_context for r in rows), ZERO),
    )


def _row(row: SpendRow, whole: Nanodollars, colour: str) -> Row:
    return Row(
        name=shown(row.name),
        colour=colour,
        cost=usd(row.cost),
        exact=f"{row.cost.usd} USD",
        share=share(row.cost.nanos, whole.nanos),
        bar=share_bar(row.cost.nanos, whole.nanos, colour),
        saved=usd(row.saved) if row.saved != ZERO else NOTHING,
        requests=count(row.requests),
        cached=share(row.cached, row.requests - row.refused),
        refused=count(row.refused),
        tokens_in=short_count(row.input_tokens),
        tokens_out=short_count(row.output_tokens),
    )


def _link(text: str, key: str, by: str, current: bool) -> Link:
    asked = {"range": key} | ({"by": by} if by != DIMENSIONS[0] else {})
    return Link(text=text, href=f"/admin?{urlencode(asked)}", current=current)


def _caption(span: Range, now: datetime) -> str:
    if span.key == "today":
        return f"{now:%A}, {now.day} {now:%B %Y}, until {now:%H:%M}"
    first = span.since.astimezone(now.tzinfo)
    return f"{first.day} {first:%B} to {now.day} {now:%B %Y}"
