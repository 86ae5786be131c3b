"""More classes of tokens, fees for tools, and a rate for each of them."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table, names in (("ledger_event", COUNTS), ("ledger_attempt", (*COUNTS, *RATES))):
        for name in names:
            op.add_column(table, sa.Column(name, sa.BigInteger(), nullable=True))
    for name in COUNTS:
        op.add_column("ledger_rollup", sa.Column(name, sa.BigInteger(), server_default="0", nullable=False))


def downgrade() -> None:
    """Put each class back into the one that it was counted in before, so that every sum stays what it was."""
    for table, names in (("ledger_event", COUNTS), ("ledger_attempt", (*COUNTS, *RATES)), ("ledger_rollup", COUNTS)):
        merged = ", ".join(f"{name} = {name} + {' + '.join(map(_told, parts))}" for name, parts in WITHIN.items())
        op.execute(f"UPDATE {table} SET {merged} WHERE {' + '.join(map(_told, COUNTS))} > 0")  # noqa: S608  constants
        for name in names:
            op.drop_column(table, name)


def _told(name: str) -> str:
    return f"COALESCE({name}, 0)"


COUNTS = ("cache_write_1h", "audio_input", "audio_read", "image_input", "audio_output", "tool_runs")
RATES = (
    "price_cache_write_1h_nanos",
    "price_audio_input_nanos",
    "price_cached_audio_nanos",
    "price_image_input_nanos",
    "price_reasoning_nanos",
    "price_audio_output_nanos",
    "price_tool_run_nanos",
)
WITHIN = {
    "fresh_input": ("audio_input", "image_input"),
    "cache_read": ("audio_read",),
    "cache_write": ("cache_write_1h",),
    "output": ("audio_output",),
}
