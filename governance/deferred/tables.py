"""The tables of deferred work. Instants are microseconds since the epoch in UTC.

What came of a batch is kept once, in its lines: its output and error files are rows that say which of them to read.
"""

from sqlalchemy import Index, Integer, LargeBinary, text
from sqlalchemy.orm import Mapped, mapped_column

from governance.ledger.tables import Base

_HELD = text("state IN ('running', 'carried')")


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

    While it runs or is carried it is `worker`'s until `lease_until`. `body` goes when `result`, a line of JSON, is
    there.
    """

    __tablename__ = "deferred_line"
    __table_args__ = (
        Index("ix_deferred_line_batch_id_state_n", "batch_id", "state", "n"),
        Index("ix_deferred_line_lease_until", "lease_until", sqlite_where=_HELD, postgresql_where=_HELD),
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


class DeferredShipmentRow(Base):
    """A batch at a provider; see `governance.deferred.records.Shipment`. Nothing is done for it before `due_at`."""

    __tablename__ = "deferred_shipment"
    __table_args__ = (Index("ix_deferred_shipment_state_due_at", "state", "due_at"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    provider: Mapped[str]
    path: Mapped[str]
    state: Mapped[str]
    upstream_id: Mapped[str | None]
    size: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[int]
    seen_at: Mapped[int]
    due_at: Mapped[int]


class DeferredParcelRow(Base):
    """A line's request to a provider's batch API; see `governance.deferred.records.Parcel`.

    `shipment_id` is None until it is packed; `status` and `result` are there once the provider has answered.
    """

    __tablename__ = "deferred_parcel"
    __table_args__ = (
        Index("ix_deferred_parcel_shipment_id", "shipment_id"),
        Index("uq_deferred_parcel_request_id", "request_id", unique=True),
    )

    batch_id: Mapped[str] = mapped_column(primary_key=True)
    n: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    request_id: Mapped[str]
    shipment_id: Mapped[str | None]
    provider: Mapped[str]
    path: Mapped[str]
    model: Mapped[str]
    upstream_model: Mapped[str]
    asked_at: Mapped[int]
    status: Mapped[int | None] = mapped_column(Integer)
    body: Mapped[bytes] = mapped_column(LargeBinary)
    result: Mapped[bytes | None] = mapped_column(LargeBinary)
