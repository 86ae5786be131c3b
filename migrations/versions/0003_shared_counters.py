"""Counters that several processes share in PostgreSQL."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "counter",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("ends", sa.Double(), nullable=False),
        sa.Column("settled", sa.BigInteger(), nullable=False),
        sa.Column("held", sa.BigInteger(), nullable=False),
        sa.Column("holds", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_counter"),
    )
    op.create_table(
        "counter_hold",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.Column("draws", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_counter_hold"),
    )
    op.create_index("ix_counter_hold_expires_at", "counter_hold", ["expires_at"])
    op.create_table(
        "counter_booked",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_counter_booked"),
    )


def downgrade() -> None:
    for table in ("counter_booked", "counter_hold", "counter"):
        op.drop_table(table)
