"""A provider with the batch APIs of OpenAI and Anthropic, over a real socket; it answers when a test says so."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

USAGE = {"prompt_tokens": 12, "completion_tokens": 4, "total_tokens": 16}


@dataclass
class UpstreamBatch:
    """A batch that was handed in: its requests by their names."""

    id: str
    about: dict[str, Any]
    requests: dict[str, dict[str, Any]]


@dataclass(kw_only=True)
class BatchProvider:
    """The provider's behaviour, and its memory of what it was handed.

    Attributes:
        ready: it has worked on what was handed in.
        cut: the reply to the next batch that is handed in is lost on the way.
        refuse: the status with which it refuses whatever is handed in.
        fails: the names of the requests that it answers with 400.
        silent: the names of those that it does not come to in time.
        calls: requests that came as calls, and not in a batch.
    """

    ready: bool = False
    cut: bool = False
    refuse: int | None = None
    fails: Callable[[str], bool] = lambda _: False
    silent: Callable[[str], bool] = lambda _: False
    batches: list[UpstreamBatch] = field(default_factory=list[UpstreamBatch])
    calls: int = 0
    looks: int = 0
    _files: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def app(self) -> Starlette:
        """Return the provider as an application."""
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self._call, methods=["POST"]),
                Route("/v1/files", self._upload, methods=["POST"]),
                Route("/v1/files/{id}/content", self._content),
                Route("/v1/batches", self._hand_in, methods=["POST"]),
                Route("/v1/batches", self._list),
                Route("/v1/batches/{id}", self._show),
                Route("/v1/messages/batches", self._hand_in_messages, methods=["POST"]),
                Route("/v1/messages/batches", self._list_messages),
                Route("/v1/messages/batches/{id}", self._show_messages),
                Route("/v1/messages/batches/{id}/results", self._results),
            ]
        )

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something it remembers is so."""
        async with asyncio.timeout(20):
            while not condition():  # noqa: ASYNC110  anything may change it
                await asyncio.sleep(0.01)

    async def _call(self, request: Request) -> Response:
        await request.body()
        self.calls += 1
        return JSONResponse(_completion())

    async def _upload(self, request: Request) -> Response:
        async with request.form() as form:
            file = form["file"]
            assert not isinstance(file, str)
            self._files[f"file-{len(self._files)}"] = await file.read()
            assert form["purpose"] == "batch"
        return JSONResponse({"id": f"file-{len(self._files) - 1}"})

    async def _content(self, request: Request) -> Response:
        return PlainTextResponse(self._files[request.path_params["id"]])

    async def _hand_in(self, request: Request) -> Response:
        about = await request.json()
        if self.refuse:
            return JSONResponse({"error": {"message": "no"}}, self.refuse)
        lines = [json.loads(line) for line in self._files[about["input_file_id"]].splitlines()]
        assert {line["url"] for line in lines} == {about["endpoint"]}
        return self._took(about, {line["custom_id"]: line["body"] for line in lines})

    def _took(self, about: dict[str, Any], requests: dict[str, dict[str, Any]]) -> Response:
        batch = UpstreamBatch(f"up-{len(self.batches)}", about, requests)
        self.batches.append(batch)
        if self.cut:
            self.cut = False
            return PlainTextResponse("lost", 502)
        return JSONResponse(self._object(batch))

    def _object(self, batch: UpstreamBatch) -> dict[str, Any]:
        shown = {"id": batch.id, "metadata": batch.about.get("metadata"), "status": "in_progress"}
        if not self.ready:
            return shown
        answered = [self._line(name) for name in batch.requests]
        self._files[f"{batch.id}-out"] = _jsonl([line for line in answered if line["error"] is None])
        self._files[f"{batch.id}-err"] = _jsonl([line for line in answered if line["error"] is not None])
        files = {"output_file_id": f"{batch.id}-out", "error_file_id": f"{batch.id}-err"}
        return shown | files | {"status": "completed"}

    def _line(self, name: str) -> dict[str, Any]:
        if self.silent(name):
            return {"custom_id": name, "response": None, "error": {"code": "batch_expired", "message": "too late"}}
        if self.fails(name):
            body = {"error": {"message": "bad", "code": "bad"}}
            return {"custom_id": name, "response": {"status_code": 400, "body": body}, "error": None}
        return {"custom_id": name, "response": {"status_code": 200, "body": _completion()}, "error": None}

    async def _list(self, request: Request) -> Response:
        return JSONResponse({"data": [self._object(batch) for batch in reversed(self.batches)], "has_more": False})

    async def _show(self, request: Request) -> Response:
        self.looks += 1
        return JSONResponse(self._object(self._of(request)))

    def _of(self, request: Request) -> UpstreamBatch:
        return next(batch for batch in self.batches if batch.id == request.path_params["id"])

    async def _hand_in_messages(self, request: Request) -> Response:
        asked = await request.json()
        requests = {one["custom_id"]: one["params"] for one in asked["requests"]}
        lost, reply = self.cut, self._took({"created_at": datetime.now(UTC).isoformat()}, requests)
        return reply if lost else JSONResponse(self._message_object(self.batches[-1]))

    def _message_object(self, batch: UpstreamBatch) -> dict[str, Any]:
        state = "ended" if self.ready else "in_progress"
        counts = {"processing": len(batch.requests), "succeeded": 0}
        return {"id": batch.id, "processing_status": state, "request_counts": counts} | batch.about

    async def _list_messages(self, request: Request) -> Response:
        return JSONResponse({"data": [self._message_object(batch) for batch in reversed(self.batches)]})

    async def _show_messages(self, request: Request) -> Response:
        self.looks += 1
        return JSONResponse(self._message_object(self._of(request)))

    async def _results(self, request: Request) -> Response:
        return PlainTextResponse(_jsonl([self._result(name) for name in self._of(request).requests]))

    def _result(self, name: str) -> dict[str, Any]:
        if self.silent(name):
            return {"custom_id": name, "result": {"type": "expired"}}
        if self.fails(name):
            error = {"type": "error", "error": {"type": "invalid_request_error", "message": "bad"}}
            return {"custom_id": name, "result": {"type": "errored", "error": error}}
        return {"custom_id": name, "result": {"type": "succeeded", "message": _message()}}


def _completion() -> dict[str, Any]:
    said = {"role": "assistant", "content": "Hello!"}
    choices = [{"index": 0, "message": said, "finish_reason": "stop", "logprobs": None}]
    about = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m"}
    return about | {"choices": choices, "usage": USAGE}


def _message() -> dict[str, Any]:
    usage = {"input_tokens": 12, "output_tokens": 4}
    about = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
    return about | {"content": [{"type": "text", "text": "Hello!"}], "stop_reason": "end_turn", "usage": usage}


def _jsonl(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)
