"""What providers' caches of prompts have saved, and which writes of them were ours."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

TABLES = ("ledger_event", "ledger_attempt", "ledger_rollup")
MARKS = ("prefix_wrote", "prefix_read")


def upgrade() -> None:
    """Rows from before have no saving of the kind: nobody worked it out then, and their sums stay what they were."""
    for table in TABLES:
        op.add_column(table, sa.Column("saved_prefix_nanos", sa.BigInteger(), server_default="0", nullable=False))
    for name in MARKS:
        op.add_column("ledger_attempt", sa.Column(name, sa.String(), server_default="", nullable=False))


def downgrade() -> None:
    for name in MARKS:
        op.drop_column("ledger_attempt", name)
    for table in TABLES:
        op.drop_column(table, "saved_prefix_nanos")
