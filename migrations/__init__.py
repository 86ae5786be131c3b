"""Migrations: the schema's history, and the one call that brings a database up to date.

`versions/` holds the revisions, `env.py` runs them on the connection given by `upgrade`. The tables themselves are
declared in governance and listed in `schema.py`; a test proves that the newest revision builds exactly those.
"""

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, create_engine, inspect, text

from governance.database import driver_url, missing_driver, prepare_sqlite, store_errors, writing
from governance.errors import StoreUnavailable

HEAD: Final = "0014"
_LOCK: Final = 0x51_1CE  # one number that all processes of this product agree on


def upgrade(url: str) -> None:
    """Bring a database to the newest revision, making it if need be.

    Blocks, so call it in a thread. A database that is up to date costs one query. Processes that start together take
    turns, and those who come later find nothing to do.

    Raises:
        StoreUnavailable: The address is wrong, its driver is missing, the database does not answer, or it is newer than
            this program.
    """
    address = driver_url(url, asynchronous=False)
    try:
        engine = create_engine(address)
    except ModuleNotFoundError as error:
        raise missing_driver(error) from error
    if engine.dialect.name == "sqlite":
        prepare_sqlite(engine)
    try:
        with store_errors():
            with engine.connect() as connection:
                current = _revision_of(connection)
            if current != HEAD:
                with writing(engine.connect()) as connection, connection.begin():
                    _run(connection)
    finally:
        engine.dispose()


def _revision_of(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.scalar(text("SELECT version_num FROM alembic_version"))


def _run(connection: Connection) -> None:
    from alembic import command  # noqa: PLC0415  slow to import, and mostly not needed
    from alembic.config import Config  # noqa: PLC0415
    from alembic.util import CommandError  # noqa: PLC0415

    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("path_separator", "os")
    try:
        command.upgrade(config, HEAD)
    except CommandError as error:
        raise StoreUnavailable(f"the database's schema is not one of this program's: {error}") from error
