"""The tables: keys, ledger events, attempts, roll-ups.

Money is nano-dollars in 64 bits, instants are microseconds since the epoch in UTC, tokens are counts. Rows of the
ledger are only ever added, and only what an open request holds may still change, when it makes another attempt. Two
partial unique indexes make "held once, ended once" a fact of the database: writing an event again, after a failure that
left its fate unknown or from another process, changes nothing.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import BigInteger, CheckConstraint, Index, Integer, LargeBinary, MetaData, UniqueConstraint, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_TERMINAL: Final = text("kind <> 'held'")
HELD: Final = text("kind = 'held'")
# SQLite counts row ids up by itself only in a column of type INTEGER.
_Identity = BigInteger().with_variant(Integer, "sqlite")


def micros(at: datetime) -> int:
    """An instant as it is stored."""
    return (at - EPOCH) // _MICROSECOND


def instant(at: int) -> datetime:
    """A stored instant, in UTC."""
    return EPOCH + at * _MICROSECOND


class Base(DeclarativeBase):
    """The schema that `migrations` builds."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {int: BigInteger}  # noqa: RUF012  SQLAlchemy reads this as a plain class attribute


class KeyRow(Base):
    """An application's key; see `governance.identity.KeyRecord`."""

    __tablename__ = "api_key"

    id: Mapped[str] = mapped_column(primary_key=True)
    team: Mapped[str]
    app: Mapped[str]
    feature: Mapped[str | None]
    name: Mapped[str | None]
    secret_hash: Mapped[bytes] = mapped_column(LargeBinary)
    previous_hash: Mapped[bytes | None] = mapped_column(LargeBinary)
    previous_until: Mapped[int | None]
    created_at: Mapped[int]
    expires_at: Mapped[int | None]
    revoked_at: Mapped[int | None]
    revision: Mapped[int] = mapped_column(unique=True)
    terms: Mapped[str | None]


class KeyRevisionRow(Base):
    """The number of changes to keys so far, in one row.

    Raising it locks the row until the change commits, so revisions become visible in their order and a reader that asks
    for newer ones misses none.
    """

    __tablename__ = "key_revision"
    __table_args__ = (CheckConstraint("id = 1", name="one_row"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    revision: Mapped[int]


class LedgerEventRow(Base):
    """One event of a request; see `governance.ledger.events.LedgerEvent`.

    Counts of a usage are NULL where none was told, and where the class was not told apart at the time.
    """

    __tablename__ = "ledger_event"
    __table_args__ = (
        Index(
            "uq_ledger_event_terminal", "request_id", unique=True, sqlite_where=_TERMINAL, postgresql_where=_TERMINAL
        ),
        Index("uq_ledger_event_held", "request_id", unique=True, sqlite_where=HELD, postgresql_where=HELD),
        Index("ix_ledger_event_at", "at"),
        Index("ix_ledger_event_team_at", "team", "at"),
        Index("ix_ledger_event_lease_until", "lease_until", sqlite_where=HELD, postgresql_where=HELD),
    )

    id: Mapped[int] = mapped_column(_Identity, primary_key=True, autoincrement=True)
    kind: Mapped[str]
    at: Mapped[int]
    request_id: Mapped[str]
    team: Mapped[str]
    app: Mapped[str]
    feature: Mapped[str]
    workflow: Mapped[str]
    model: Mapped[str]
    segment: Mapped[str]
    environment: Mapped[str]
    session: Mapped[str]
    key_id: Mapped[str]
    end_user: Mapped[str | None]
    endpoint: Mapped[str]
    stream: Mapped[bool]
    provider: Mapped[str]
    route: Mapped[str]
    cache: Mapped[str]
    context: Mapped[str] = mapped_column(server_default="")
    outcome: Mapped[str]
    code: Mapped[str]
    status: Mapped[int | None] = mapped_column(Integer)
    fresh_input: Mapped[int | None]
    cache_read: Mapped[int | None]
    cache_write: Mapped[int | None]
    cache_write_1h: Mapped[int | None]
    audio_input: Mapped[int | None]
    audio_read: Mapped[int | None]
    image_input: Mapped[int | None]
    output: Mapped[int | None]
    reasoning: Mapped[int | None]
    audio_output: Mapped[int | None]
    tool_runs: Mapped[int | None]
    estimated: Mapped[bool]
    attempts: Mapped[int] = mapped_column(Integer)
    held_nanos: Mapped[int]
    cost_nanos: Mapped[int]
    saved_cache_nanos: Mapped[int]
    saved_routing_nanos: Mapped[int]
    saved_prefix_nanos: Mapped[int] = mapped_column(server_default="0")
    saved_context_nanos: Mapped[int] = mapped_column(server_default="0")
    policy_version: Mapped[str]
    duration_ms: Mapped[float | None]
    first_token_ms: Mapped[float | None]
    lease_until: Mapped[int | None]
    zone: Mapped[str] = mapped_column(server_default="")
    labels: Mapped[str] = mapped_column(server_default="")


class LedgerAttemptRow(Base):
    """One call to an upstream; see `governance.ledger.events.Attempt`.

    Prices are nano-dollars per million tokens of a class, or per thousand runs of a tool: the rates it was billed at.
    """

    __tablename__ = "ledger_attempt"
    __table_args__ = (UniqueConstraint("request_id", "n"),)

    id: Mapped[int] = mapped_column(_Identity, primary_key=True, autoincrement=True)
    request_id: Mapped[str]
    n: Mapped[int] = mapped_column(Integer)
    at: Mapped[int]
    purpose: Mapped[str]
    provider: Mapped[str]
    model: Mapped[str]
    upstream_model: Mapped[str]
    outcome: Mapped[str]
    status: Mapped[int | None] = mapped_column(Integer)
    fresh_input: Mapped[int | None]
    cache_read: Mapped[int | None]
    cache_write: Mapped[int | None]
    cache_write_1h: Mapped[int | None]
    audio_input: Mapped[int | None]
    audio_read: Mapped[int | None]
    image_input: Mapped[int | None]
    output: Mapped[int | None]
    reasoning: Mapped[int | None]
    audio_output: Mapped[int | None]
    tool_runs: Mapped[int | None]
    price_input_nanos: Mapped[int]
    price_cached_input_nanos: Mapped[int | None]
    price_cache_write_nanos: Mapped[int | None]
    price_cache_write_1h_nanos: Mapped[int | None]
    price_audio_input_nanos: Mapped[int | None]
    price_cached_audio_nanos: Mapped[int | None]
    price_image_input_nanos: Mapped[int | None]
    price_output_nanos: Mapped[int]
    price_reasoning_nanos: Mapped[int | None]
    price_audio_output_nanos: Mapped[int | None]
    price_tool_run_nanos: Mapped[int | None]
    price_source: Mapped[str]
    cost_nanos: Mapped[int]
    saved_prefix_nanos: Mapped[int] = mapped_column(server_default="0")
    prefix_wrote: Mapped[str] = mapped_column(server_default="")
    prefix_read: Mapped[str] = mapped_column(server_default="")
    duration_ms: Mapped[float]
    zone: Mapped[str] = mapped_column(server_default="")


class LedgerRollupRow(Base):
    """What one value of a dimension used in one hour (UTC) for one team; see `governance.ledger.rollups`."""

    __tablename__ = "ledger_rollup"

    dimension: Mapped[str] = mapped_column(primary_key=True)
    hour: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    team: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str] = mapped_column(primary_key=True)
    requests: Mapped[int]
    refused: Mapped[int]
    cached: Mapped[int]
    fresh_input: Mapped[int]
    cache_read: Mapped[int]
    cache_write: Mapped[int]
    cache_write_1h: Mapped[int] = mapped_column(server_default="0")
    audio_input: Mapped[int] = mapped_column(server_default="0")
    audio_read: Mapped[int] = mapped_column(server_default="0")
    image_input: Mapped[int] = mapped_column(server_default="0")
    output: Mapped[int]
    reasoning: Mapped[int]
    audio_output: Mapped[int] = mapped_column(server_default="0")
    tool_runs: Mapped[int] = mapped_column(server_default="0")
    cost_nanos: Mapped[int]
    saved_cache_nanos: Mapped[int]
    saved_routing_nanos: Mapped[int]
    saved_prefix_nanos: Mapped[int] = mapped_column(server_default="0")
    saved_context_nanos: Mapped[int] = mapped_column(server_default="0")
