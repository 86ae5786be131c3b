"""`POST /v1/feedback`: what became of an answer, in the words of those who got it.

A bad score on an answer that a cache gave, or that caches have kept since, takes the answer out of them, in every
process, and teaches the semantic cache that it was wrong; a good score teaches it that it was right.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec
from fastapi import APIRouter, Request
from msgspec import Meta

from gateway.caching.lessons import Teacher
from gateway.endpoints.edge import read_body
from gateway.errors import RequestNotFound
from gateway.governing.in_force import InForce
from gateway.wire.body import decode, shaped
from gateway.wire.request.controls import credential, read_headers
from governance.database import Database
from governance.identity import Caller
from governance.ledger.reading.reports import request as recorded_request
from governance.ledger.writer import LedgerWriter
from governance.lookups import feedback
from governance.lookups.feedback import Feedback

_FLUSH_S: Final = 1.0
"""How long the ledger may take to write down a request that was answered a moment ago."""


class FeedbackFields(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a caller says of an answer."""

    request_id: Annotated[str, Meta(min_length=1, max_length=100)]
    score: Annotated[float, Meta(ge=-1, le=1)]
    comment: Annotated[str, Meta(max_length=1_000)] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackDesk:
    """What the endpoint works with."""

    in_force: InForce
    database: Database
    ledger: LedgerWriter
    teacher: Teacher
    now: Callable[[], datetime]

    async def take(self, caller: Caller, fields: FeedbackFields) -> None:
        """Keep what a caller says, and let the caches learn from it; what has been said before teaches nothing more.

        Raises:
            RequestNotFound: There is no such request of the caller's app.
            StoreUnavailable: The database does not answer.
        """
        await self.ledger.flush(within_s=_FLUSH_S)
        found = await recorded_request(self.database, fields.request_id)
        if found is None or (found.request.team, found.request.app) != (caller.team, caller.app):
            raise RequestNotFound(f"Your app has made no request {fields.request_id!r}.", fields.request_id)
        at, made = self.now(), found.request
        said = Feedback(
            request_id=fields.request_id, at=at, key_id=caller.key_id, score=fields.score, comment=fields.comment
        )
        verdict = _verdict(fields.score)
        if verdict and verdict != _verdict(await feedback.score_of(self.database, fields.request_id)):
            await self.teacher.told(fields.request_id, f"{made.team}/{made.app}/{made.feature}", at, right=verdict > 0)
        await feedback.keep(self.database, said)


def _verdict(score: float) -> int:
    """Return what a score says: 1 for right, -1 for wrong, 0 for neither."""
    return (score > 0) - (score < 0)


def feedback_router(desk: FeedbackDesk) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix="/v1", include_in_schema=False)

    @router.post("/feedback")
    async def give(request: Request) -> dict[str, Any]:
        headers = read_headers(request.headers.raw)
        caller = desk.in_force.governed.admission.identify(credential(headers), desk.now())
        fields = shaped(decode(await read_body(request.receive, headers)), FeedbackFields)
        await desk.take(caller, fields)
        return {"object": "feedback", "request_id": fields.request_id, "score": fields.score}

    return router
