"""Deferred work: files, batches and the queue of their lines."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_HELD = sa.text("state IN ('running', 'carried')")


def upgrade() -> None:
    op.create_table(
        "deferred_file",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("team", sa.String(), nullable=False),
        sa.Column("app", sa.String(), nullable=False),
        sa.Column("purpose", sa.String(), nullable=False),
        sa.Column("filename", sa.String(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("batch_id", sa.String(), nullable=True),
        sa.Column("answered", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_deferred_file"),
    )
    op.create_index("ix_deferred_file_team_app_created_at", "deferred_file", ["team", "app", "created_at"])
    op.create_table(
        "deferred_part",
        sa.Column("file_id", sa.String(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("file_id", "n", name="pk_deferred_part"),
    )
    op.create_table(
        "deferred_batch",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("team", sa.String(), nullable=False),
        sa.Column("app", sa.String(), nullable=False),
        sa.Column("key_id", sa.String(), nullable=False),
        sa.Column("endpoint", sa.String(), nullable=False),
        sa.Column("completion_window", sa.String(), nullable=False),
        sa.Column("input_file_id", sa.String(), nullable=True),
        sa.Column("output_file_id", sa.String(), nullable=True),
        sa.Column("error_file_id", sa.String(), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("details", sa.String(), nullable=True),
        sa.Column("asked", sa.String(), nullable=False),
        sa.Column("faults", sa.String(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("not_before", sa.BigInteger(), nullable=False),
        sa.Column("served_at", sa.BigInteger(), nullable=False),
        sa.Column("in_progress_at", sa.BigInteger(), nullable=True),
        sa.Column("finalizing_at", sa.BigInteger(), nullable=True),
        sa.Column("completed_at", sa.BigInteger(), nullable=True),
        sa.Column("failed_at", sa.BigInteger(), nullable=True),
        sa.Column("expired_at", sa.BigInteger(), nullable=True),
        sa.Column("cancelling_at", sa.BigInteger(), nullable=True),
        sa.Column("cancelled_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_deferred_batch"),
    )
    op.create_index("ix_deferred_batch_status_served_at", "deferred_batch", ["status", "served_at"])
    op.create_index("ix_deferred_batch_team_app_created_at", "deferred_batch", ["team", "app", "created_at"])
    op.create_table(
        "deferred_line",
        sa.Column("batch_id", sa.String(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("custom_id", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.BigInteger(), nullable=False),
        sa.Column("worker", sa.String(), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("result", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("batch_id", "n", name="pk_deferred_line"),
    )
    op.create_index("ix_deferred_line_batch_id_state_n", "deferred_line", ["batch_id", "state", "n"])
    op.create_index(
        "ix_deferred_line_lease_until",
        "deferred_line",
        ["lease_until"],
        sqlite_where=_HELD,
        postgresql_where=_HELD,
    )
    op.create_table(
        "deferred_shipment",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("upstream_id", sa.String(), nullable=True),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_deferred_shipment"),
    )
    op.create_index("ix_deferred_shipment_state_due_at", "deferred_shipment", ["state", "due_at"])
    op.create_table(
        "deferred_parcel",
        sa.Column("batch_id", sa.String(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("request_id", sa.String(), nullable=False),
        sa.Column("shipment_id", sa.String(), nullable=True),
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("upstream_model", sa.String(), nullable=False),
        sa.Column("asked_at", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("result", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("batch_id", "n", name="pk_deferred_parcel"),
    )
    op.create_index("ix_deferred_parcel_shipment_id", "deferred_parcel", ["shipment_id"])
    op.create_index("uq_deferred_parcel_request_id", "deferred_parcel", ["request_id"], unique=True)


def downgrade() -> None:
    for table in (
        "deferred_parcel",
        "deferred_shipment",
        "deferred_line",
        "deferred_batch",
        "deferred_part",
        "deferred_file",
    ):
        op.drop_table(table)
