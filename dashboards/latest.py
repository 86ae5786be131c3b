"""The latest requests, one line each, worded for the table at the foot of the spend page."""

from dataclasses import dataclass
from datetime import datetime

from dashboards.figures import NOTHING, short_count, usd
from governance.ledger.reading.reports import RequestRow
from governance.ledger.rollups import is_hit
from governance.money import ZERO
from governance.names import shown

_UNATTRIBUTED = "unattributed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One request in words.

    `exact` is its cost to the last nano-dollar, `tone` the colour of its outcome, and `finer` the part of its time that
    a phone leaves out.
    """

    id: str
    at: str
    time: str
    finer: str
    team: str
    rest: str
    model: str
    route: str
    cache: str
    cache_tone: str
    tokens: str
    cost: str
    exact: str
    saved: str
    status: str
    tone: str
    meaning: str


def line(row: RequestRow, now: datetime) -> Line:
    """Word one request; times are those of `now`'s zone, with the day for what is not of today."""
    at = row.at.astimezone(now.tzinfo)
    is_today = at.date() == now.date()
    rest = [name for name in (row.app, row.feature) if name != _UNATTRIBUTED]
    return Line(
        id=row.request_id,
        at=at.isoformat(timespec="seconds"),
        time=f"{at:%H:%M}" if is_today else f"{at.day} {at:%b}",
        finer=f":{at:%S}" if is_today else f" {at:%H:%M}",
        team=shown(row.team),
        rest="".join(f" / {shown(name)}" for name in rest),
        model=shown(row.model) or NOTHING,
        route=shown(row.route) or NOTHING,
        cache=row.cache.replace(";similarity=", " ") or NOTHING,
        cache_tone="good" if is_hit(row.cache) else "",
        tokens=_tokens(row.input_tokens, row.output_tokens),
        cost=usd(row.cost),
        exact=f"{row.cost.usd} USD",
        saved=usd(row.saved) if row.saved != ZERO else NOTHING,
        status=str(row.status) if row.status else row.kind,
        tone=_tone(row.status),
        meaning=row.code or row.kind,
    )


def _tokens(in_: int | None, out: int | None) -> str:
    if in_ is None and out is None:
        return NOTHING
    return f"{short_count(in_ or 0)} → {short_count(out or 0)}"


def _tone(status: int | None) -> str:
    """Green for answers, amber for what the caller may mend, red for what we must."""
    if not status:
        return ""
    return "good" if status < 400 else "warn" if status < 500 else "bad"  # noqa: PLR2004  (HTTP's own classes)
