"""The tables of deferred work. Instants are microseconds since the epoch in UTC.

What came of a batch is kept once, in its lines: its output and error files are rows that say which of them to read.
"""

from sqlalchemy import Index, Integer, LargeBinary, text
from sqlalchemy.orm import Mapped, mapped_column

from governance.ledger.tables import Base

_RUNNING = text("state = 'running'")


class DeferredFileRow(Base):
    """A file; see `governance.deferred.records.StoredFile`.

    `size` is None while it is being uploaded. `batch_id` is set when it is what came of a batch: the results of those
    lines that were answered, or of the others.
    """

    __tablename__ = "deferred_file"
    __table_args__ = (Index("ix_deferred_file_team_app_created_at", "team", "app", "created_at"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    team: Mapped[str]
    app: Mapped[str]
    purpose: Mapped[str]
    filename: Mapped[str]
    size: Mapped[int | None]
    created_at: Mapped[int]
    batch_id: Mapped[str | None]
    answered: Mapped[bool]


class DeferredPartRow(Base):
    """A piece of an uploaded file; they follow each other by `n`."""

    __tablename__ = "deferred_part"

    file_id: Mapped[str] = mapped_column(primary_key=True)
    n: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    content: Mapped[bytes] = mapped_column(LargeBinary)


class DeferredBatchRow(Base):
    """A batch; see `governance.deferred.records.Batch`.

    Nothing is done for it before `not_before`, and of those that are due the one comes next whose `served_at`, when
    lines were last taken from it, is longest ago. `details` (its metadata), `asked` and `faults` are JSON.
    """

    __tablename__ = "deferred_batch"
    __table_args__ = (
        Index("ix_deferred_batch_status_served_at", "status", "served_at"),
        Index("ix_deferred_batch_team_app_created_at", "team", "app", "created_at"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    team: Mapped[str]
    app: Mapped[str]
    key_id: Mapped[str]
    endpoint: Mapped[str]
    completion_window: Mapped[str]
    input_file_id: Mapped[str | None]
    output_file_id: Mapped[str | None]
    error_file_id: Mapped[str | None]
    status: Mapped[str]
    details: Mapped[str | None]
    asked: Mapped[str]
    faults: Mapped[str | None]
    created_at: Mapped[int]
    expires_at: Mapped[int]
    not_before: Mapped[int]
    served_at: Mapped[int]
    in_progress_at: Mapped[int | None]
    finalizing_at: Mapped[int | None]
    completed_at: Mapped[int | None]
    failed_at: Mapped[int | None]
    expired_at: Mapped[int | None]
    cancelling_at: Mapped[int | None]
    cancelled_at: Mapped[int | None]


class DeferredLineRow(Base):
    """A line of a batch; see `governance.deferred.records.Line`.

    While it runs it is `worker`'s until `lease_until`. `body` goes when `result`, a line of JSON, is there.
    """

    __tablename__ = "deferred_line"
    __table_args__ = (
        Index("ix_deferred_line_batch_id_state_n", "batch_id", "state", "n"),
        Index("ix_deferred_line_lease_until", "lease_until", sqlite_where=_RUNNING, postgresql_where=_RUNNING),
    )

    batch_id: Mapped[str] = mapped_column(primary_key=True)
    n: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    custom_id: Mapped[str]
    state: Mapped[str]
    generation: Mapped[int] = mapped_column(Integer)
    failures: Mapped[int] = mapped_column(Integer)
    not_before: Mapped[int]
    worker: Mapped[str | None]
    lease_until: Mapped[int | None]
    body: Mapped[bytes | None] = mapped_column(LargeBinary)
    result: Mapped[bytes | None] = mapped_column(LargeBinary)
