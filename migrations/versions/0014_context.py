"""What prompts are made of by hour and feature, what was cut of them, and what that has saved."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0012"
branch_labels = None
depends_on = None

TABLES = ("ledger_event", "ledger_rollup")
KEY = ("team", "app", "feature")
FIGURES = (
    "requests", "turns", "tokens", "system", "tools", "history", "retrieved", "asked", "same", "near", "unused", "idle",
    "lead", "stable", "grown", "edge", "middle", "cut", "input_nanos", "repeated_nanos", "unused_nanos", "saved_nanos",
)  # fmt: skip


def upgrade() -> None:
    """Rows from before have no saving of the kind: nothing was cut then, and their sums stay what they were."""
    for table in TABLES:
        op.add_column(table, sa.Column("saved_context_nanos", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("ledger_event", sa.Column("context", sa.String(), server_default="", nullable=False))
    op.create_table(
        "context_hour",
        sa.Column("hour", sa.BigInteger(), autoincrement=False, nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in KEY),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in FIGURES),
        sa.PrimaryKeyConstraint("hour", *KEY, name=op.f("pk_context_hour")),
    )


def downgrade() -> None:
    op.drop_table("context_hour")
    op.drop_column("ledger_event", "context")
    for table in TABLES:
        op.drop_column(table, "saved_context_nanos")
