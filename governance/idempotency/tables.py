"""The table of idempotency keys."""

from sqlalchemy import LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from governance.ledger.tables import Base


class IdempotencyRow(Base):
    """A key in use: the answer that was given under it, or the request that is still making one.

    Attributes:
        key_id: The API key whose idempotency key it is.
        name: SHA-256 of the idempotency key.
        fingerprint: Of the request that it stands for.
        request_id: The request that took it.
        until: When it is free again: the end of that request's lease, or of the time that its answer is kept.
        model: The policy's name of the model that answered; None while there is no answer.
        body: The answer in wire form, without streaming; None while there is none.
    """

    __tablename__ = "idempotency_key"

    key_id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    fingerprint: Mapped[bytes] = mapped_column(LargeBinary)
    request_id: Mapped[str]
    until: Mapped[int] = mapped_column(index=True)
    model: Mapped[str | None]
    body: Mapped[bytes | None] = mapped_column(LargeBinary)
