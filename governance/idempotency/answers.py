"""Turns under an idempotency key, and the answers that later turns are given again.

A key is taken by one request at a time. When that one has an answer, the key stands for it until it is forgotten; when
it fails, or its process dies and its lease ends, the key is free again. Every step is one short transaction.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, delete, select, update

from governance.database import Database
from governance.errors import IdempotencyKeyReused
from governance.idempotency.tables import IdempotencyRow
from governance.ledger.tables import instant, micros

KEPT: Final = timedelta(hours=24)
"""How long an answer is given again."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A request that wants its turn.

    Attributes:
        key_id: The public id of its API key: no other key's answers are ever seen.
        name: SHA-256 of its idempotency key.
        fingerprint: Of what it asks; a key stands for one request.
        request_id: Its own id.
    """

    key_id: str
    name: bytes
    fingerprint: bytes
    request_id: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that was given before; its text is shown by no repr.

    Attributes:
        body: In wire form, without streaming.
        model: The policy's name of the model that made it.
    """

    body: bytes = field(repr=False)
    model: str


@dataclass(frozen=True, slots=True)
class Running:
    """The key is another request's, which has no answer yet and may take until then."""

    until: datetime


class IdempotentAnswers:
    """Keeps the answers of requests that were given an idempotency key."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, claim: Claim, at: datetime, until: datetime) -> Answer | Running | None:
        """Take a key for a request, or find what stands in its way.

        Args:
            claim: Who wants it.
            at: The present instant.
            until: When the key is free again if nothing is heard of the request.

        Returns:
            None when the key is now the request's own, who has to `keep` an answer or `release` it; otherwise the
            answer that was given under it, or the request that is making one.

        Raises:
            IdempotencyKeyReused: It stands for another request.
            StoreUnavailable: The database does not answer.
        """
        fresh = {
            "fingerprint": claim.fingerprint,
            "request_id": claim.request_id,
            "until": micros(until),
            "model": None,
            "body": None,
        }
        taking = self._database.insert(IdempotencyRow).values(key_id=claim.key_id, name=claim.name, **fresh)
        free_again = IdempotencyRow.until <= micros(at)
        taking = taking.on_conflict_do_update(index_elements=["key_id", "name"], set_=fresh, where=free_again)
        columns = (IdempotencyRow.fingerprint, IdempotencyRow.until, IdempotencyRow.model, IdempotencyRow.body)
        async with self._database.transaction() as connection:
            if (await connection.execute(taking.returning(IdempotencyRow.request_id))).first() is not None:
                return None
            row = (await connection.execute(select(*columns).where(*_named(claim)))).one()
        if row.fingerprint != claim.fingerprint:
            raise IdempotencyKeyReused
        return Running(instant(row.until)) if row.body is None else Answer(row.body, row.model)

    async def keep(self, claim: Claim, answer: Answer, at: datetime) -> None:
        """Keep the answer of a request that holds its key; one that has lost it to another keeps nothing.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        kept = update(IdempotencyRow).where(*_held(claim))
        async with self._database.transaction() as connection:
            await connection.execute(kept.values(body=answer.body, model=answer.model, until=micros(at + KEPT)))

    async def release(self, claim: Claim) -> None:
        """Free the key of a request that has no answer to keep.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        async with self._database.transaction() as connection:
            await connection.execute(delete(IdempotencyRow).where(*_held(claim)))

    async def sweep(self, at: datetime) -> int:
        """Forget what need not be known any longer, and count it; call it about once a minute.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        over = IdempotencyRow.until <= micros(at)
        async with self._database.reading() as connection:
            if (await connection.execute(select(IdempotencyRow.key_id).where(over).limit(1))).first() is None:
                return 0
        async with self._database.transaction() as connection:
            return (await connection.execute(delete(IdempotencyRow).where(over))).rowcount


def _named(claim: Claim) -> tuple[ColumnElement[bool], ...]:
    return (IdempotencyRow.key_id == claim.key_id, IdempotencyRow.name == claim.name)


def _held(claim: Claim) -> tuple[ColumnElement[bool], ...]:
    return (*_named(claim), IdempotencyRow.request_id == claim.request_id, IdempotencyRow.body.is_(None))
