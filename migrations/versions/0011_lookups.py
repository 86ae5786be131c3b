"""Look-ups in the caches, orders to forget what they hold, and what callers thought of answers."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_SERIAL = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "cache_lookup",
        sa.Column("n", _SERIAL, autoincrement=True, nullable=False),
        sa.Column("request_id", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("feature", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("entry", sa.LargeBinary(), nullable=True),
        sa.Column("evidence", sa.LargeBinary(), nullable=False),
        sa.Column("writer", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("n", name=op.f("pk_cache_lookup")),
    )
    op.create_index(op.f("ix_cache_lookup_request_id"), "cache_lookup", ["request_id"])
    op.create_index(op.f("ix_cache_lookup_at"), "cache_lookup", ["at"])
    op.create_table(
        "cache_purge",
        sa.Column("n", _SERIAL, autoincrement=True, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("similarity", sa.Double(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("n", name=op.f("pk_cache_purge")),
    )
    op.create_table(
        "feedback",
        sa.Column("request_id", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("key_id", sa.String(), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("comment", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("request_id", name=op.f("pk_feedback")),
    )


def downgrade() -> None:
    op.drop_table("feedback")
    op.drop_table("cache_purge")
    op.drop_table("cache_lookup")
