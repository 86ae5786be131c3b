"""The table of people."""

from sqlalchemy import LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from governance.ledger.tables import Base


class PersonRow(Base):
    """Somebody who administers; see `governance.people.roles.Person`. Of their key only a hash is kept."""

    __tablename__ = "person"

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    role: Mapped[str]
    team: Mapped[str | None]
    secret_hash: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[int]
    revoked_at: Mapped[int | None]
