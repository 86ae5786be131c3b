"""The table of the policy's history."""

from sqlalchemy import BigInteger, Index, Integer, Text
from sqlalchemy.orm import Mapped, mapped_column

from governance.ledger.tables import Base


class PolicyRow(Base):
    """One decision about the policy; see `governance.policy.history.Applied`. Rows are only ever added."""

    __tablename__ = "policy_version"
    __table_args__ = (Index("ix_policy_version_mode_id", "mode", "id"),)

    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True)
    mode: Mapped[str]
    version: Mapped[str]
    text: Mapped[str] = mapped_column(Text)
    source: Mapped[str]
    actor: Mapped[str]
    role: Mapped[str]
    at: Mapped[int]
    note: Mapped[str]
