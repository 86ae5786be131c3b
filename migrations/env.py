"""Run revisions on the connection, and in the transaction, that the caller gives."""

from alembic import context

from migrations.schema import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
