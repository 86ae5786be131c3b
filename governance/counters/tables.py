"""The tables of the PostgreSQL home. On SQLite they are there and stay empty."""

from datetime import datetime

from sqlalchemy import JSON, DateTime, Double, Index, func
from sqlalchemy.orm import Mapped, mapped_column

from governance.ledger.tables import Base


class CounterRow(Base):
    """A counter, and how many open holds draw on it; `ends` is when its window is over, 0 without a window."""

    __tablename__ = "counter"

    key: Mapped[str] = mapped_column(primary_key=True)
    ends: Mapped[float] = mapped_column(Double)
    settled: Mapped[int]
    held: Mapped[int]
    holds: Mapped[int]


class CounterHoldRow(Base):
    """An open hold: when its lease ends, and its draws as `[counter, end of window, amount, what stays]`."""

    __tablename__ = "counter_hold"
    __table_args__ = (Index("ix_counter_hold_expires_at", "expires_at"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    expires_at: Mapped[float] = mapped_column(Double)
    draws: Mapped[list[tuple[str, float, int, int]]] = mapped_column(JSON)


class CounterBookedRow(Base):
    """A hold that was booked after the store had been away, so that it is not booked again."""

    __tablename__ = "counter_booked"

    id: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
