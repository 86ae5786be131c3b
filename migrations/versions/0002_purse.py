"""The purse: roll-ups of the ledger, what keys are narrowed to, people, the audit log, alerts."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _rollups()
    _key_terms()
    _people()
    _audit()
    _alerts()


def downgrade() -> None:
    for table in ("alert", "audit_head", "audit_entry", "person", "ledger_rollup"):
        op.drop_table(table)
    with op.batch_alter_table("api_key") as table:
        table.drop_column("terms")


def _rollups() -> None:
    op.create_table(
        "ledger_rollup",
        sa.Column("dimension", sa.String(), nullable=False),
        sa.Column("hour", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("team", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in (*COUNTS, *AMOUNTS)),
        sa.PrimaryKeyConstraint("dimension", "hour", "team", "value", name="pk_ledger_rollup"),
    )
    amounts = ", ".join(f"COALESCE(SUM({name}), 0)" for name in AMOUNTS)
    for dimension in ("team", "app", "feature", "workflow", "model", "segment", "environment"):
        op.execute(
            f"INSERT INTO ledger_rollup (dimension, hour, team, value, {', '.join((*COUNTS, *AMOUNTS))}) "  # noqa: S608  constants
            f"SELECT '{dimension}', (at / {HOUR}) * {HOUR}, team, {dimension}, COUNT(*), "
            "SUM(CASE WHEN kind = 'refused' THEN 1 ELSE 0 END), "
            "SUM(CASE WHEN cache = 'exact' OR cache LIKE 'semantic%' THEN 1 ELSE 0 END), "
            f"{amounts} FROM ledger_event WHERE kind <> 'held' GROUP BY 1, 2, 3, 4"
        )


HOUR = 3_600_000_000
COUNTS = ("requests", "refused", "cached")
AMOUNTS = (
    "fresh_input",
    "cache_read",
    "cache_write",
    "output",
    "reasoning",
    "cost_nanos",
    "saved_cache_nanos",
    "saved_routing_nanos",
)


def _key_terms() -> None:
    op.add_column("api_key", sa.Column("terms", sa.String()))


def _people() -> None:
    op.create_table(
        "person",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("team", sa.String()),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name="pk_person"),
    )


def _audit() -> None:
    op.create_table(
        "audit_entry",
        sa.Column("n", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        *(
            sa.Column(name, sa.String(), nullable=False)
            for name in ("actor", "role", "act", "subject", "team", "facts", "previous", "hash")
        ),
        sa.PrimaryKeyConstraint("n", name="pk_audit_entry"),
    )
    op.create_index("ix_audit_entry_team_n", "audit_entry", ["team", "n"])
    head = op.create_table(
        "audit_head",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.CheckConstraint("id = 1", name="ck_audit_head_one_row"),
        sa.PrimaryKeyConstraint("id", name="pk_audit_head"),
    )
    op.bulk_insert(head, [{"id": 1, "n": 0, "hash": "0" * 64}])


def _alerts() -> None:
    op.create_table(
        "alert",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("team", sa.String(), nullable=False),
        sa.Column("window", sa.String(), nullable=False),
        sa.Column("window_start", sa.BigInteger(), nullable=False),
        sa.Column("window_end", sa.BigInteger(), nullable=False),
        sa.Column("percent", sa.Integer(), nullable=False),
        sa.Column("limit_nanos", sa.BigInteger(), nullable=False),
        sa.Column("settled_nanos", sa.BigInteger(), nullable=False),
        sa.Column("fired_at", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("sent_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name="pk_alert"),
    )
    op.create_index("ix_alert_state_due_at", "alert", ["state", "due_at"])
