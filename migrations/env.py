"""Run revisions on the connection, and in the transaction, that the caller gives."""

from alembic import context

import governance.counters.tables  # noqa: F401  # pyright: ignore[reportUnusedImport]  declares its tables
from governance.ledger.tables import Base

context.configure(
    connection=context.config.attributes["connection"], target_metadata=Base.metadata, render_as_batch=True
)
with context.begin_transaction():
    context.run_migrations()
