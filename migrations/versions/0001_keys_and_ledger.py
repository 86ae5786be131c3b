"""Keys, ledger events and attempts."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    make_keys()
    make_events()
    make_attempts()


def downgrade() -> None:
    for table in ("ledger_attempt", "ledger_event", "key_revision", "api_key"):
        op.drop_table(table)


def make_keys() -> None:
    op.create_table(
        "api_key",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("team", sa.String(), nullable=False),
        sa.Column("app", sa.String(), nullable=False),
        sa.Column("feature", sa.String()),
        sa.Column("name", sa.String()),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("previous_hash", sa.LargeBinary()),
        sa.Column("previous_until", sa.BigInteger()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger()),
        sa.Column("revoked_at", sa.BigInteger()),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_api_key"),
        sa.UniqueConstraint("revision", name="uq_api_key_revision"),
    )
    counter = op.create_table(
        "key_revision",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("id = 1", name="ck_key_revision_one_row"),
        sa.PrimaryKeyConstraint("id", name="pk_key_revision"),
    )
    op.bulk_insert(counter, [{"id": 1, "revision": 0}])


def make_events() -> None:
    op.create_table(
        "ledger_event",
        row_id(),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("request_id", sa.String(), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in DIMENSIONS),
        sa.Column("key_id", sa.String(), nullable=False),
        sa.Column("end_user", sa.String()),
        sa.Column("endpoint", sa.String(), nullable=False),
        sa.Column("stream", sa.Boolean(), nullable=False),
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("route", sa.String(), nullable=False),
        sa.Column("cache", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("code", sa.String(), nullable=False),
        sa.Column("status", sa.Integer()),
        *(sa.Column(name, sa.BigInteger()) for name in USAGE),
        sa.Column("estimated", sa.Boolean(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("held_nanos", sa.BigInteger(), nullable=False),
        sa.Column("cost_nanos", sa.BigInteger(), nullable=False),
        sa.Column("saved_cache_nanos", sa.BigInteger(), nullable=False),
        sa.Column("saved_routing_nanos", sa.BigInteger(), nullable=False),
        sa.Column("policy_version", sa.String(), nullable=False),
        sa.Column("duration_ms", sa.Double()),
        sa.Column("first_token_ms", sa.Double()),
        sa.PrimaryKeyConstraint("id", name="pk_ledger_event"),
    )
    op.create_index("ix_ledger_event_at", "ledger_event", ["at"])
    op.create_index("ix_ledger_event_team_at", "ledger_event", ["team", "at"])
    for name, condition in (("uq_ledger_event_terminal", "kind <> 'held'"), ("uq_ledger_event_held", "kind = 'held'")):
        where = sa.text(condition)
        op.create_index(name, "ledger_event", ["request_id"], unique=True, sqlite_where=where, postgresql_where=where)


def make_attempts() -> None:
    op.create_table(
        "ledger_attempt",
        row_id(),
        sa.Column("request_id", sa.String(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("purpose", sa.String(), nullable=False),
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("upstream_model", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("status", sa.Integer()),
        *(sa.Column(name, sa.BigInteger()) for name in USAGE),
        sa.Column("price_input_nanos", sa.BigInteger(), nullable=False),
        sa.Column("price_cached_input_nanos", sa.BigInteger()),
        sa.Column("price_cache_write_nanos", sa.BigInteger()),
        sa.Column("price_output_nanos", sa.BigInteger(), nullable=False),
        sa.Column("price_source", sa.String(), nullable=False),
        sa.Column("cost_nanos", sa.BigInteger(), nullable=False),
        sa.Column("duration_ms", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_ledger_attempt"),
        sa.UniqueConstraint("request_id", "n", name="uq_ledger_attempt_request_id_n"),
    )


DIMENSIONS = ("team", "app", "feature", "workflow", "model", "segment", "environment", "session")
USAGE = ("fresh_input", "cache_read", "cache_write", "output", "reasoning")


def row_id() -> sa.Column[int]:
    kind = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    return sa.Column("id", kind, autoincrement=True, nullable=False)
