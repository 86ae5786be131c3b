"""The engine's HTTP surface: the OpenAI API, as vLLM serves it, on a Unix socket or a loopback port.

The only module of this package that knows HTTP. Bodies, errors and events are read and written in `wire/`.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from local_engine.errors import (
    CallerGone,
    EngineError,
    EngineStopped,
    InvalidRequest,
    ModelLoading,
    ModelNotFound,
    Overloaded,
)
from local_engine.request import Ended, Event
from local_engine.wire import replies
from local_engine.wire.bodies import ChatBody, CompletionBody, DetokenizeBody, EmbeddingBody, TokenizeBody, decode
from local_engine.wire.embeddings import embeddings_reply, wanted_texts, wants_base64
from local_engine.wire.errors import ErrorBody, ErrorReply, error_reply, failure_of
from local_engine.wire.metrics import exposition
from local_engine.wire.prepare import Job, detokenize, prepare_chat, prepare_completion, tokenize
from local_engine.wire.replies import encode, model_reply
from local_engine.workers import unless_gone

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from contextlib import AbstractAsyncContextManager
    from socket import socket

    from starlette.types import Receive, Scope, Send

    from local_engine.models import Models, ServedText
    from local_engine.service import EventStream

T = TypeVar("T")

_JSON = "application/json"
_CLIENT_GONE = 499
_LOADING_RETRY_S = 5
_SHUTDOWN_S = 5

# Error: status. An error of a kind without a row has its parent's.
_STATUSES: dict[type[EngineError], int] = {
    InvalidRequest: 400,
    ModelNotFound: 404,
    ModelLoading: 503,
    Overloaded: 503,
    EngineStopped: 503,
    CallerGone: _CLIENT_GONE,
    EngineError: 500,
}


class Api:
    """The endpoints.

    Args:
        models: What is served.
        max_body_bytes: Largest request body.
        now: Unix seconds, for `created`.
        new_id: Makes an id that no other answer has.
    """

    def __init__(
        self, models: Models, *, max_body_bytes: int, now: Callable[[], float], new_id: Callable[[], str]
    ) -> None:
        self._models = models
        self._max_body_bytes = max_body_bytes
        self._now = now
        self._new_id = new_id

    async def chat(self, request: Request) -> Response:
        """`POST /v1/chat/completions`."""
        body = decode(await self._body(request), ChatBody)
        served = self._models.text_model(body.model)
        job = await self._aside(request, partial(prepare_chat, body, served.text, self._new_id(), int(self._now())))
        return await self._answer(request, served, job)

    async def completion(self, request: Request) -> Response:
        """`POST /v1/completions`."""
        body = decode(await self._body(request), CompletionBody)
        served = self._models.text_model(body.model)
        job = await self._aside(
            request, partial(prepare_completion, body, served.text, self._new_id(), int(self._now()))
        )
        return await self._answer(request, served, job)

    async def embeddings(self, request: Request) -> Response:
        """`POST /v1/embeddings`."""
        body = decode(await self._body(request), EmbeddingBody)
        embedder = self._models.embedding_model(body.model)
        texts, as_base64 = wanted_texts(body, embedder.dimensions), wants_base64(body)
        found = await unless_gone(_gone(request.receive), embedder.embed(texts))
        reply = partial(embeddings_reply, embedder.name, found.vectors, found.tokens, as_base64=as_base64)
        return Response(await self._aside(request, lambda: encode(reply())), media_type=_JSON)

    async def models(self, request: Request) -> Response:
        """`GET /v1/models`: those that are loaded; an embedding model that is stuck is none."""
        del request
        text, embedder, loaded = self._models.text, self._models.embedder, self._models.loaded_at
        entries = [] if text is None else [model_reply(text.text.name, loaded, text.text.limits.context, text.speeds)]
        if embedder is not None and embedder.is_healthy:
            entries.append(model_reply(embedder.name, loaded, embedder.limit, embedder.speeds))
        return _json(replies.ModelsReply(entries))

    async def tokenize(self, request: Request) -> Response:
        """`POST /tokenize`."""
        body = decode(await self._body(request), TokenizeBody)
        text = self._models.text_model(body.model).text
        tokens = await self._aside(request, partial(tokenize, body, text))
        return _json(replies.TokenizeReply(len(tokens), text.limits.context, tokens))

    async def detokenize(self, request: Request) -> Response:
        """`POST /detokenize`."""
        body = decode(await self._body(request), DetokenizeBody)
        text = self._models.text_model(body.model).text
        return _json(replies.DetokenizeReply(await self._aside(request, partial(detokenize, body, text))))

    async def health(self, request: Request) -> Response:
        """`GET /health`: 200 once text can be generated and for as long as steps finish; and how each model is."""
        del request
        status, states = self._models.status, self._models.states
        response = _json(replies.HealthReply(status, states), 200 if status == "ok" else 503)
        if status != "ok":
            response.headers["retry-after"] = str(_LOADING_RETRY_S)
        return response

    async def metrics(self, request: Request) -> Response:
        """`GET /metrics`, for Prometheus."""
        del request
        page = exposition(self._models.text_model(None).service.stats, self._models.throughputs)
        return Response(page, media_type="text/plain; version=0.0.4; charset=utf-8")

    async def _body(self, request: Request) -> bytes:
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > self._max_body_bytes:
                raise InvalidRequest(f"the body is larger than {self._max_body_bytes} bytes")
        return bytes(body)

    async def _aside(self, request: Request, call: Callable[[], T]) -> T:
        """Make a call beside the event loop; one whose client left is dropped if its turn has not come."""
        return await unless_gone(_gone(request.receive), self._models.workers.run(call))

    async def _answer(self, request: Request, served: ServedText, job: Job) -> Response:
        """Run a job. What fails before the first event is an error response; what fails later ends the stream."""
        stream = served.service.submit(job.requests)
        try:
            if not job.is_stream:
                reply = await unless_gone(_gone(request.receive), job.transcript.reply(stream))
                return Response(reply, media_type=_JSON)
            first = await unless_gone(_gone(request.receive), _first(stream))
        except BaseException:
            stream.close()
            raise
        return _ServerSentEvents(stream, job.transcript.frames(_resumed(first, stream)))


class _ServerSentEvents(Response):
    """A stream that is given up as soon as the client has gone, also between two events."""

    media_type = "text/event-stream"

    def __init__(self, stream: EventStream, frames: AsyncIterator[bytes]) -> None:
        super().__init__(headers={"cache-control": "no-cache", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._stream = stream
        self._frames = frames

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope
        async with self._stream:
            with suppress(CallerGone):
                await unless_gone(_gone(receive), self._send(send))

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for frame in self._frames:
            await send({"type": "http.response.body", "body": frame, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _gone(receive: Receive) -> Callable[[], Awaitable[None]]:
    """Return what waits for the client of a connection to leave."""

    async def until_gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    return until_gone


async def _first(stream: EventStream) -> Event:
    first = await anext(stream)
    if isinstance(first, Ended) and (failure := failure_of(first)) is not None:
        raise failure
    return first


async def _resumed(first: Event, rest: EventStream) -> AsyncIterator[Event]:
    yield first
    async for event in rest:
        yield event


def _json(reply: object, status: int = 200) -> Response:
    return Response(encode(reply), status, media_type=_JSON)


async def _on_engine_error(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, EngineError)  # noqa: S101  registered for it
    status = next(_STATUSES[kind] for kind in type(error).__mro__ if kind in _STATUSES)
    response = _json(error_reply(error), status)
    if isinstance(error, Overloaded):
        response.headers["retry-after"] = str(error.retry_after_s)
    elif isinstance(error, ModelLoading):
        response.headers["retry-after"] = str(_LOADING_RETRY_S)
    return response


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  registered for it
    code = "not_found" if error.status_code == 404 else "invalid_request_error"  # noqa: PLR2004
    message = f"{request.method} {request.url.path}: {error.detail}"
    response = _json(ErrorReply(ErrorBody(message, "invalid_request_error", None, code)), error.status_code)
    response.headers.update(error.headers or {})
    return response


async def _on_gone(request: Request, error: Exception) -> Response:
    del request, error
    return Response(status_code=_CLIENT_GONE)


async def _on_bug(request: Request, error: Exception) -> Response:
    del request, error  # the server logs it
    return _json(ErrorReply(ErrorBody("the engine failed", "server_error", None, "internal_error")), 500)


def create_app(api: Api, lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]] | None = None) -> Starlette:
    """Lay out the routes."""
    return Starlette(
        routes=[
            Route("/v1/chat/completions", api.chat, methods=["POST"]),
            Route("/v1/completions", api.completion, methods=["POST"]),
            Route("/v1/embeddings", api.embeddings, methods=["POST"]),
            Route("/v1/models", api.models, methods=["GET"]),
            Route("/tokenize", api.tokenize, methods=["POST"]),
            Route("/detokenize", api.detokenize, methods=["POST"]),
            Route("/health", api.health, methods=["GET"]),
            Route("/metrics", api.metrics, methods=["GET"]),
        ],
        exception_handlers={
            EngineError: _on_engine_error,
            HTTPException: _on_http_error,
            ClientDisconnect: _on_gone,
            Exception: _on_bug,
        },
        lifespan=lifespan,
    )


class Server(uvicorn.Server):
    """A server that ends the models' work while it lets connections finish, within `_SHUTDOWN_S` seconds.

    Args:
        app: What it serves.
        models: What the app serves.
        grace_s: Seconds that requests in flight get.
    """

    def __init__(self, app: Starlette, models: Models, grace_s: float) -> None:
        super().__init__(
            uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=_SHUTDOWN_S, lifespan="on")
        )
        self._models = models
        self._grace_s = grace_s

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """Stop accepting, end what is in flight, close."""
        stopping = asyncio.create_task(self._models.stop(self._grace_s))
        await super().shutdown(sockets)
        await stopping
