"""Find the alert of a step that is still reached without reading them all."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_alert_scope_window_end", "alert", ["scope", "window_end"])


def downgrade() -> None:
    op.drop_index("ix_alert_scope_window_end", "alert")
