"""Idempotency keys, and the answers that were given under them."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "idempotency_key",
        sa.Column("key_id", sa.String(), nullable=False),
        sa.Column("name", sa.LargeBinary(), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=False),
        sa.Column("request_id", sa.String(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.Column("model", sa.String(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("key_id", "name", name=op.f("pk_idempotency_key")),
    )
    op.create_index(op.f("ix_idempotency_key_until"), "idempotency_key", ["until"])


def downgrade() -> None:
    op.drop_table("idempotency_key")
