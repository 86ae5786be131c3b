"""The purse: roll-ups of the ledger."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _rollups()


def downgrade() -> None:
    op.drop_table("ledger_rollup")


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
