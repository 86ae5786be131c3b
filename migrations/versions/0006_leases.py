"""When the hold of a request ends by itself, so that one whose process died is found."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_HELD = sa.text("kind = 'held'")


def upgrade() -> None:
    op.add_column("ledger_event", sa.Column("lease_until", sa.BigInteger(), nullable=True))
    # No lease is longer than 25 hours, in microseconds.
    op.execute("UPDATE ledger_event SET lease_until = at + 90000000000 WHERE kind = 'held'")
    op.create_index(
        "ix_ledger_event_lease_until",
        "ledger_event",
        ["lease_until"],
        sqlite_where=_HELD,
        postgresql_where=_HELD,
    )


def downgrade() -> None:
    op.drop_index("ix_ledger_event_lease_until", "ledger_event")
    op.drop_column("ledger_event", "lease_until")
