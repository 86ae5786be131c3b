"""The tables of the audit log."""

from sqlalchemy import CheckConstraint, Index, Integer
from sqlalchemy.orm import Mapped, mapped_column

from governance.ledger.tables import Base


class AuditRow(Base):
    """One act; see `governance.audit.chain.Entry`. `facts` is JSON text exactly as it was hashed."""

    __tablename__ = "audit_entry"
    __table_args__ = (Index("ix_audit_entry_team_n", "team", "n"),)

    n: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[int]
    actor: Mapped[str]
    role: Mapped[str]
    act: Mapped[str]
    subject: Mapped[str]
    team: Mapped[str]
    facts: Mapped[str]
    previous: Mapped[str]
    hash: Mapped[str]


class AuditHeadRow(Base):
    """The newest entry's place and hash, in one row.

    Every writer changes this row first, so writers take turns until they commit, on either database, and the chain
    never forks.
    """

    __tablename__ = "audit_head"
    __table_args__ = (CheckConstraint("id = 1", name="one_row"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    n: Mapped[int]
    hash: Mapped[str]
