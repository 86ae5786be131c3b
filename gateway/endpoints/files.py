"""`/v1/files`: what batches are made of, and what comes of them. Spec: the OpenAI API reference, "Files"."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, BinaryIO, Final, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from gateway.deferred.objects import file_object, page
from gateway.endpoints.models import entitled
from gateway.errors import BadRequest
from gateway.governing.in_force import InForce
from governance.database import Database
from governance.deferred import files
from governance.deferred.records import Owner
from governance.identity import Caller

MOST_BYTES: Final = 200 * 1024 * 1024
_FORM_BYTES: Final = 64 * 1024
_LONGEST_NAME: Final = 255


@dataclass(frozen=True, slots=True)
class Clerk:
    """What the routes of files and batches work with. `now` is an aware clock, `random_bytes` makes ids."""

    in_force: InForce
    database: Database
    now: Callable[[], datetime]
    random_bytes: Callable[[int], bytes]

    def caller(self, request: Request) -> Caller:
        """Return whose key asks.

        Raises:
            Unauthenticated: the key opens nothing.
            UnknownTeam: it outlived its app.
        """
        return entitled(request, self.in_force.governed, self.now).caller

    def owner(self, request: Request) -> Owner:
        """Return the app whose key asks; raises what `caller` does."""
        caller = self.caller(request)
        return Owner(caller.team, caller.app)

    def new_id(self, prefix: str) -> str:
        """Return an id that nobody has."""
        return f"{prefix}{self.random_bytes(12).hex()}"


def files_router(clerk: Clerk) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/v1/files", include_in_schema=False)

    @router.post("")
    async def upload(request: Request) -> dict[str, Any]:
        owner = clerk.owner(request)
        async with _form(request) as form:
            purpose, file = form.get("purpose"), form.get("file")
            if purpose != "batch":
                raise BadRequest("'purpose' must be 'batch'.", "purpose")
            if not isinstance(file, UploadFile):
                raise BadRequest("'file' is missing.", "file")
            stored = await files.store(
                clerk.database,
                id=clerk.new_id("file-"),
                owner=owner,
                purpose="batch",
                filename=_name(file.filename),
                pieces=_pieces(file.file),
                at=clerk.now(),
            )
        return file_object(stored)

    @router.get("")
    async def list_files(
        request: Request,
        purpose: Annotated[str | None, Query(max_length=64)] = None,
        limit: Annotated[int, Query(ge=1, le=10_000)] = 10_000,
        order: Literal["asc", "desc"] = "desc",
        after: Annotated[str | None, Query(max_length=100)] = None,
    ) -> dict[str, Any]:
        found = await files.listed(
            clerk.database,
            clerk.owner(request),
            limit + 1,
            purpose=purpose,
            after=after,
            oldest_first=order == "asc",
        )
        return page([file_object(file) for file in found], limit)

    @router.get("/{file_id}")
    async def show(request: Request, file_id: str) -> dict[str, Any]:
        return file_object(await files.find(clerk.database, file_id, clerk.owner(request)))

    @router.get("/{file_id}/content")
    async def content(request: Request, file_id: str) -> StreamingResponse:
        owner = clerk.owner(request)
        stored = await files.find(clerk.database, file_id, owner)
        pieces = await files.read(clerk.database, file_id, owner)
        return StreamingResponse(pieces, media_type="application/octet-stream", headers=_as_download(stored.filename))

    @router.delete("/{file_id}")
    async def remove(request: Request, file_id: str) -> dict[str, Any]:
        await files.remove(clerk.database, file_id, clerk.owner(request))
        return {"id": file_id, "object": "file", "deleted": True}

    return router


@asynccontextmanager
async def _form(request: Request) -> AsyncGenerator[FormData]:
    """Read a form; its file waits on the disk, so that no upload fills the memory."""
    try:
        form = await MultiPartParser(request.headers, _bounded(request.stream()), max_files=1, max_fields=10).parse()
    except (MultiPartException, KeyError) as error:
        why = getattr(error, "message", "") or "the content type is not multipart/form-data"
        raise BadRequest(f"The request body is not a form with a file: {why.rstrip('.')}.") from None
    try:
        yield form
    finally:
        await form.close()


async def _bounded(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    size = 0
    async for piece in pieces:
        size += len(piece)
        if size > MOST_BYTES + _FORM_BYTES:
            raise BadRequest(f"The file is larger than {MOST_BYTES // 2**20} MiB.", "file")
        yield piece


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(files.PIECE_BYTES):
        yield piece


def _name(given: str | None) -> str:
    printed = "".join(character for character in given or "" if character.isprintable())
    return printed[:_LONGEST_NAME] or "file.jsonl"


def _as_download(name: str) -> dict[str, str]:
    """Name the file for whoever saves it; no browser should show what a model has written as a page of ours."""
    return {
        "content-disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
        "x-content-type-options": "nosniff",
    }
