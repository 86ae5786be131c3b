"""The history of the policy: what was in force, from when, and by whom."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "policy_version",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), autoincrement=True, nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("mode", "version")),
        sa.Column("text", sa.Text(), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("source", "actor", "role")),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("note", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_policy_version"),
    )
    op.create_index("ix_policy_version_mode_id", "policy_version", ["mode", "id"])


def downgrade() -> None:
    op.drop_table("policy_version")
