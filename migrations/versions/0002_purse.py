"""The purse: what keys are narrowed to, people, the audit log, alerts."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _key_terms()
    _people()
    _audit()
    _alerts()


def downgrade() -> None:
    for table in ("alert", "audit_head", "audit_entry", "person"):
        op.drop_table(table)
    with op.batch_alter_table("api_key") as table:
        table.drop_column("terms")


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
