"""`/v1/batches`: many requests in one file, done when nobody is in a hurry. Spec: the OpenAI API reference, "Batch"."""

import re
from datetime import timedelta
from typing import Annotated, Any, Final

import msgspec
from fastapi import APIRouter, Query, Request
from msgspec import Meta

from gateway.deferred.lines import ENDPOINTS
from gateway.deferred.objects import batch_object, page
from gateway.deferred.wishes import read_wishes
from gateway.endpoints.edge import read_body
from gateway.endpoints.files import Clerk
from gateway.errors import BadRequest
from gateway.wire.body import decode, shaped
from gateway.wire.request.controls import read_headers
from governance.deferred import batches, files
from governance.deferred.records import Owner, Submission

_WINDOW: Final = re.compile(r"([1-9][0-9]{0,2})h")
_LONGEST: Final = timedelta(days=7)


class BatchFields(msgspec.Struct, frozen=True):
    """What a new batch is asked with."""

    input_file_id: Annotated[str, Meta(max_length=100)]
    endpoint: str
    completion_window: str
    metadata: (
        Annotated[dict[Annotated[str, Meta(max_length=64)], Annotated[str, Meta(max_length=512)]], Meta(max_length=16)]
        | None
    ) = None


def batches_router(clerk: Clerk) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/v1/batches", include_in_schema=False)

    @router.post("")
    async def create(request: Request) -> dict[str, Any]:
        caller, headers = clerk.caller(request), read_headers(request.headers.raw)
        owner = Owner(caller.team, caller.app)
        fields = shaped(decode(await read_body(request.receive, headers)), BatchFields)
        if fields.endpoint not in ENDPOINTS:
            raise BadRequest(f"'endpoint' must be one of {', '.join(ENDPOINTS)}.", "endpoint")
        within, at = _window(fields.completion_window), clerk.now()
        stored = await files.find(clerk.database, fields.input_file_id, owner)
        if stored.purpose != "batch":
            raise BadRequest("The purpose of 'input_file_id' must be 'batch'.", "input_file_id")
        handed_in = Submission(
            id=clerk.new_id("batch_"),
            owner=owner,
            key_id=caller.key_id,
            endpoint=fields.endpoint,
            completion_window=fields.completion_window,
            expires_at=at + within,
            asked=read_wishes(headers, fields.metadata).written(),
            input_file_id=stored.id,
            metadata=fields.metadata,
        )
        return batch_object(await batches.submit(clerk.database, handed_in, at))

    @router.get("")
    async def list_batches(
        request: Request,
        limit: Annotated[int, Query(ge=1, le=100)] = 20,
        after: Annotated[str | None, Query(max_length=100)] = None,
    ) -> dict[str, Any]:
        owner = clerk.owner(request)
        found = await batches.listed(clerk.database, limit + 1, owner=owner, after=after)
        return page([batch_object(batch) for batch in found], limit)

    @router.get("/{batch_id}")
    async def show(request: Request, batch_id: str) -> dict[str, Any]:
        return batch_object(await batches.find(clerk.database, batch_id, clerk.owner(request)))

    @router.post("/{batch_id}/cancel")
    async def cancel(request: Request, batch_id: str) -> dict[str, Any]:
        return batch_object(await batches.cancel(clerk.database, batch_id, clerk.owner(request), clerk.now()))

    return router


def _window(text: str) -> timedelta:
    match = _WINDOW.fullmatch(text)
    window = timedelta(hours=int(match[1])) if match else timedelta()
    if not timedelta() < window <= _LONGEST:
        raise BadRequest("'completion_window' must be '24h', or other whole hours up to '168h'.", "completion_window")
    return window
