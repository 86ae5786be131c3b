"""The tables of look-ups, purges and feedback."""

from sqlalchemy import BigInteger, Double, Integer, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from governance.ledger.tables import Base

_Serial = BigInteger().with_variant(Integer, "sqlite")


class LookupRow(Base):
    """One word on record about one look-up; a request may have several, the later ones being lessons of the first.

    Attributes:
        n: In the order of writing.
        request_id: The request that looked.
        at: When, in microseconds since the epoch.
        feature: `team/app/feature` whose look-up it was.
        kind: What became of it.
        entry: The stored answer it is about; None when there is none.
        evidence: What the cache has seen and learned, in its own encoding.
        writer: The process that wrote it, which knows it already.
    """

    __tablename__ = "cache_lookup"

    n: Mapped[int] = mapped_column(_Serial, primary_key=True, autoincrement=True)
    request_id: Mapped[str] = mapped_column(index=True)
    at: Mapped[int] = mapped_column(index=True)
    feature: Mapped[str]
    kind: Mapped[str]
    entry: Mapped[bytes | None] = mapped_column(LargeBinary)
    evidence: Mapped[bytes] = mapped_column(LargeBinary)
    writer: Mapped[str]


class PurgeRow(Base):
    """One order to forget stored answers.

    Attributes:
        n: In the order of writing.
        at: When, in microseconds since the epoch: what was stored later stays.
        kind: What `value` names: `all`, `tag`, `key` or `like`.
        value: The tag, the key in hexadecimal, or a question.
        similarity: From what cosine on a question is `like` it; 0 for the other kinds.
        by: Who gave the order.
    """

    __tablename__ = "cache_purge"

    n: Mapped[int] = mapped_column(_Serial, primary_key=True, autoincrement=True)
    at: Mapped[int]
    kind: Mapped[str]
    value: Mapped[str]
    similarity: Mapped[float] = mapped_column(Double)
    by: Mapped[str]


class FeedbackRow(Base):
    """What a caller thought of an answer, the last time it said so.

    Attributes:
        request_id: The request that was answered.
        at: When, in microseconds since the epoch.
        key_id: Whose key said so.
        score: From -1 (wrong) to 1 (right).
        comment: The caller's own words.
    """

    __tablename__ = "feedback"

    request_id: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[int]
    key_id: Mapped[str]
    score: Mapped[float] = mapped_column(Double)
    comment: Mapped[str]
