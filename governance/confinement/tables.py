"""The tables of sessions' labels and of decisions."""

from sqlalchemy import CheckConstraint, Index, Integer
from sqlalchemy.orm import Mapped, mapped_column

from governance.ledger.tables import Base


class SessionLabelRow(Base):
    """One label of one session of one key: there from when it was found first.

    Attributes:
        key_id: The public id of the key.
        session: What its caller calls the session.
        label: What was found.
        at: When, in microseconds since the epoch.
    """

    __tablename__ = "session_label"

    key_id: Mapped[str] = mapped_column(primary_key=True)
    session: Mapped[str] = mapped_column(primary_key=True)
    label: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[int] = mapped_column(index=True)


class DecisionRow(Base):
    """One entry of the log of decisions; see `governance.confinement.decisions.Decision`."""

    __tablename__ = "zone_decision"
    __table_args__ = (Index("ix_zone_decision_request_id", "request_id"),)

    n: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[int]
    act: Mapped[str]
    request_id: Mapped[str]
    labels: Mapped[str]
    zones: Mapped[str]
    provider: Mapped[str]
    zone: Mapped[str]
    previous: Mapped[str]
    hash: Mapped[str]


class DecisionHeadRow(Base):
    """The newest decision's place and hash, in one row, which every writer changes first so that they take turns."""

    __tablename__ = "zone_decision_head"
    __table_args__ = (CheckConstraint("id = 1", name="one_row"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    n: Mapped[int]
    hash: Mapped[str]
