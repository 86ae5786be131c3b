"""Where requests were confined to: labels of sessions, the log of decisions, and zones in the ledger."""

import sqlalchemy as sa
from alembic import op

from governance.audit.chain import GENESIS

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

NEW = (("ledger_event", "zone"), ("ledger_event", "labels"), ("ledger_attempt", "zone"))


def upgrade() -> None:
    """Nothing was confined by its text before, and where attempts went is in the policies of their time."""
    for table, name in NEW:
        op.add_column(table, sa.Column(name, sa.String(), server_default="", nullable=False))
    op.create_table(
        "session_label",
        sa.Column("key_id", sa.String(), nullable=False),
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key_id", "session", "label", name="pk_session_label"),
    )
    op.create_index("ix_session_label_at", "session_label", ["at"])
    op.create_table(
        "zone_decision",
        sa.Column("n", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        *(
            sa.Column(name, sa.String(), nullable=False)
            for name in ("act", "request_id", "labels", "zones", "provider", "zone", "previous", "hash")
        ),
        sa.PrimaryKeyConstraint("n", name="pk_zone_decision"),
    )
    op.create_index("ix_zone_decision_request_id", "zone_decision", ["request_id"])
    head = op.create_table(
        "zone_decision_head",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.CheckConstraint("id = 1", name="ck_zone_decision_head_one_row"),
        sa.PrimaryKeyConstraint("id", name="pk_zone_decision_head"),
    )
    op.bulk_insert(head, [{"id": 1, "n": 0, "hash": GENESIS}])


def downgrade() -> None:
    for table in ("zone_decision_head", "zone_decision", "session_label"):
        op.drop_table(table)
    for table, name in reversed(NEW):
        op.drop_column(table, name)
