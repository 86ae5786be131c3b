"""The page of deferred work: from batches to what its template shows. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from dashboards.charts import share_bar
from dashboards.figures import NOTHING, count, share
from governance.deferred.records import Batch, BatchStatus
from governance.names import shown

_TONES = {
    BatchStatus.COMPLETED: "good",
    BatchStatus.FAILED: "bad",
    BatchStatus.EXPIRED: "warn",
    BatchStatus.CANCELLED: "warn",
    BatchStatus.CANCELLING: "warn",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """One batch in words; `note` says what it waits for, or why it failed."""

    id: str
    handed_in: str
    at: str
    team: str
    app: str
    endpoint: str
    status: str
    tone: str
    note: str
    bar: Markup
    progress: str
    total: str
    answered: str
    unanswered: str


def batch_rows(batches: Sequence[Batch], now: datetime) -> tuple[BatchRow, ...]:
    """Word batches; times are those of `now`'s zone, with the day for what is not of today."""
    return tuple(_row(batch, now) for batch in batches)


def _row(batch: Batch, now: datetime) -> BatchRow:
    counts = batch.counts
    done = counts.completed + counts.failed
    return BatchRow(
        id=batch.id,
        handed_in=batch.created_at.isoformat(timespec="seconds"),
        at=_time(batch.created_at, now),
        team=shown(batch.owner.team),
        app=shown(batch.owner.app),
        endpoint=batch.endpoint,
        status=batch.status.value.replace("_", " "),
        tone=_TONES.get(batch.status, ""),
        note=_note(batch, now),
        bar=share_bar(done, counts.total, "s0"),
        progress=share(done, counts.total),
        total=count(counts.total),
        answered=count(counts.completed),
        unanswered=count(counts.failed) if counts.failed else NOTHING,
    )


def _note(batch: Batch, now: datetime) -> str:
    if batch.faults:
        first = batch.faults[0]
        return shown(f"{'' if first.line is None else f'line {first.line}: '}{first.message}")
    if batch.status is BatchStatus.IN_PROGRESS and batch.waits_until is not None and batch.waits_until > now:
        return f"waits until {_time(batch.waits_until, now)}"
    return ""


def _time(at: datetime, now: datetime) -> str:
    local = at.astimezone(now.tzinfo)
    return f"{local:%H:%M}" if local.date() == now.date() else f"{local.day} {local:%b %H:%M}"
