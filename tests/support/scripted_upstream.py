"""An upstream that speaks the OpenAI API over a real socket and does exactly what a test tells it to.

It counts what it served: its own truth about calls and tokens is what the gateway's ledger is held against.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route


@dataclass(kw_only=True)
class Script:
    """What the upstream does with a chat completion.

    Attributes:
        pieces: the words of the answer, one token each.
        prompt_tokens: what it says the prompt counted.
        cached_tokens: how many of them it says it did not compute.
        status: refuse with this status instead.
        error: the error object of a refusal.
        headers: of a refusal.
        cut_after: drop the connection after so many pieces.
        fail_after: send an error event after so many pieces.
        usage: whether it tells usage at all.
        gate: waited for before every piece after the first, when set.
        raw: bytes sent in place of events.
        finish: the finish reason.
        silent: waited for before the first byte, when set.
    """

    pieces: list[str] = field(default_factory=lambda: ["Hello", ",", " world", "!"])
    prompt_tokens: int = 12
    cached_tokens: int = 0
    status: int = 200
    error: dict[str, Any] = field(default_factory=lambda: {"message": "no", "type": "x", "code": "y"})
    headers: dict[str, str] = field(default_factory=dict)
    cut_after: int | None = None
    fail_after: int | None = None
    usage: bool = True
    gate: asyncio.Event | None = None
    raw: bytes | None = None
    finish: str = "stop"
    silent: asyncio.Event | None = None


class CutConnection(Exception):
    """Raised inside a stream so that the server drops the connection."""


class ScriptedUpstream:
    """The upstream's behaviour and its memory of what it was asked: `before` are for its first answers.

    With `answers` the pieces of the script are those it returns for what was asked.
    """

    def __init__(self) -> None:
        self.script = Script()
        self.before: list[Script] = []
        self.answers: Callable[[dict[str, Any]], list[str]] | None = None
        self.healthy = True
        self.served: tuple[str, ...] = ("smollm2-135m-instruct", "all-minilm-l6-v2")
        self.rates = {"prefill_tokens_per_second": 1000.0, "decode_tokens_per_second": 50.0}
        self.metrics: str | None = None
        self.tokens: int | None = None
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.pieces_sent = 0
        self.finished = 0
        self.abandoned = 0
        self.changed = asyncio.Event()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something the upstream remembers is so."""
        async with asyncio.timeout(10):
            while not condition():
                self.changed.clear()
                if not condition():
                    await self.changed.wait()

    def app(self) -> Starlette:
        """Return the upstream as an application."""
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self._chat, methods=["POST"]),
                Route("/v1/embeddings", self._embed, methods=["POST"]),
                Route("/v1/models", self._models),
                Route("/health", self._health),
                Route("/metrics", self._metrics),
                Route("/tokenize", self._tokenize, methods=["POST"]),
            ]
        )

    async def _health(self, _: Request) -> Response:
        return Response(status_code=200 if self.healthy else 503)

    async def _models(self, _: Request) -> Response:
        return JSONResponse(
            {
                "data": [
                    {"id": name, "object": "model", "max_model_len": 8192, "measured": self.rates}
                    for name in self.served
                ]
            }
        )

    async def _metrics(self, _: Request) -> Response:
        return Response(self.metrics, status_code=404 if self.metrics is None else 200)

    async def _tokenize(self, request: Request) -> Response:
        self._remember(request, await request.json())
        return Response(status_code=404) if self.tokens is None else JSONResponse({"count": self.tokens})

    async def _embed(self, request: Request) -> Response:
        self._remember(request, await request.json())
        if self.script.status != 200:
            return JSONResponse({"error": self.script.error}, self.script.status, self.script.headers)
        vector = {"object": "embedding", "index": 0, "embedding": [0.6, 0.8]}
        usage = {"prompt_tokens": 5, "total_tokens": 5}
        reply = {"object": "list", "data": [vector], "model": "all-minilm-l6-v2"}
        return JSONResponse(reply | {"usage": usage} if self.script.usage else reply)

    async def _chat(self, request: Request) -> Response:
        body = await request.json()
        self._remember(request, body)
        script = self.before.pop(0) if self.before else self.script
        if self.answers is not None:
            script = replace(script, pieces=self.answers(body))
        if script.status != 200:
            return JSONResponse({"error": script.error}, script.status, script.headers)
        return StreamingResponse(self._events(script, body), media_type="text/event-stream")

    def _remember(self, request: Request, body: dict[str, Any]) -> None:
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        self.changed.set()

    async def _events(self, script: Script, body: dict[str, Any]) -> AsyncGenerator[bytes]:
        try:
            if script.silent is not None:
                await script.silent.wait()
            if script.raw is not None:
                yield script.raw
                return
            async for event in self._scripted(script, body):
                yield event
        except (asyncio.CancelledError, GeneratorExit):
            self.abandoned += 1
            raise
        finally:
            self.finished += 1
            self.changed.set()

    async def _scripted(self, script: Script, body: dict[str, Any]) -> AsyncGenerator[bytes]:
        each = bool(body.get("stream_options", {}).get("continuous_usage_stats")) and script.usage
        yield _event(_chunk({"role": "assistant", "content": ""}, usage=_usage(script, 0) if each else None))
        for sent, piece in enumerate(script.pieces):
            if script.gate is not None and sent:
                await script.gate.wait()
                script.gate.clear()
            if sent == script.cut_after:
                raise CutConnection
            if sent == script.fail_after:
                yield _event({"error": {"message": "the model fell over", "type": "server_error"}})
                return
            self.pieces_sent += 1
            yield _event(_chunk({"content": piece}, usage=_usage(script, sent + 1) if each else None))
            self.changed.set()
        final = _usage(script, len(script.pieces))
        yield _event(_chunk({}, finish=script.finish, usage=final if each else None))
        if script.usage:
            yield _event(_chunk(None, usage=final))
        yield b"data: [DONE]\n\n"


def _usage(script: Script, completion: int) -> dict[str, Any]:
    return {
        "prompt_tokens": script.prompt_tokens,
        "completion_tokens": completion,
        "total_tokens": script.prompt_tokens + completion,
        "prompt_tokens_details": {"cached_tokens": script.cached_tokens},
    }


def _chunk(
    delta: dict[str, Any] | None, finish: str | None = None, usage: dict[str, Any] | None = None
) -> dict[str, Any]:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]
    chunk: dict[str, Any] = {
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": choices,
    }  # fmt: skip
    return chunk if usage is None else chunk | {"usage": usage}


def _event(value: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(value) + b"\n\n"


class QuietServer(uvicorn.Server):
    """Uvicorn inside a test's own loop: it takes no signals."""

    def install_signal_handlers(self) -> None:
        """Take none."""


@asynccontextmanager
async def serve(app: Any, *, uds: Path | None = None) -> AsyncGenerator[int]:
    """Serve an application on a socket for the length of the block; gives the port, 0 for a Unix socket."""
    config = uvicorn.Config(
        app, uds=str(uds) if uds else None, port=0, log_config=None, lifespan="off", timeout_graceful_shutdown=2
    )
    server = QuietServer(config)
    task = asyncio.create_task(_serve(server))
    try:
        async with asyncio.timeout(10):
            while not server.started:  # noqa: ASYNC110  uvicorn sets a flag, no event
                await asyncio.sleep(0.005)
        yield 0 if uds else server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await task


async def _serve(server: uvicorn.Server) -> None:
    # `serve` would take over the process's signals; what it wraps does the work.
    await server._serve()
