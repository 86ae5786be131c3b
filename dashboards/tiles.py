"""The key figures at the top of the spend page: what people look at first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from dashboards.charts import sparkline
from dashboards.figures import change, count, share, short_count, usd
from dashboards.ranges import Range
from governance.ledger.reading.reports import SpendReport, SpendRow
from governance.ledger.reading.reports_daily import SpendPoint
from governance.money import ZERO


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One key figure, a sentence about it, and its run over the span."""

    key: str
    label: str
    value: str
    note: str
    spark: Markup
    tone: str = ""


def tiles(span: Range, report: SpendReport, before: SpendReport, points: Sequence[SpendPoint]) -> tuple[Tile, ...]:
    """Word spend, savings, requests, cache hits and refusals of a span, compared with the one before."""
    now, then = report.total, before.total
    begun = 1 + next(n for n, column in enumerate(span.columns) if column.current)

    def run(figure: Callable[[SpendPoint], int]) -> Markup:
        values = [0] * begun
        for point in points:
            if point.column < begun:
                values[point.column] += figure(point)
        return sparkline(values)

    return (
        Tile(
            key="spend",
            label="Spend",
            value=usd(now.cost),
            note=_moved(now.cost.nanos, then.cost.nanos, span),
            spark=run(lambda point: point.cost.nanos),
        ),
        Tile(
            key="saved",
            label="Saved",
            value=usd(now.saved),
            note=f"{share(now.saved.nanos, (now.cost + now.saved).nanos)} of the bill without Sluice{_levers(now)}",
            spark=run(lambda point: point.saved.nanos),
            tone="good" if now.saved > ZERO else "",
        ),
        Tile(
            key="requests",
            label="Requests",
            value=short_count(now.requests),
            note=_moved(now.requests, then.requests, span),
            spark=run(lambda point: point.requests),
        ),
        Tile(
            key="cached",
            label="From cache",
            value=share(now.cached, now.requests - now.refused),
            note=f"{count(now.cached)} {'answer' if now.cached == 1 else 'answers'} reused",
            spark=run(lambda point: point.cached),
        ),
        Tile(
            key="refused",
            label="Refused",
            value=short_count(now.refused),
            note=f"{share(now.refused, now.requests)} of all requests",
            spark=run(lambda point: point.refused),
            tone="warn" if now.refused else "",
        ),
    )


def _levers(row: SpendRow) -> str:
    """Tell the savings apart where providers' caches of prompts or cut prompts have a part in them."""
    if row.saved_prefix == row.saved_context == ZERO:
        return ""
    both = f": cache {usd(row.saved_cache)}, prefix {usd(row.saved_prefix)}, routing {usd(row.saved_routing)}"
    return both if row.saved_context == ZERO else f"{both}, context {usd(row.saved_context)}"


def _moved(now: int, before: int, span: Range) -> str:
    worded = change(now, before)
    return f"{worded} on {span.compared}" if worded else f"none {span.when_compared}"
