"""The fake provider: one application with the paths of every dialect, and its memory of what it served."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.providers import chat, completions, converse, gemini, messages, responses
from tests.support.providers.answer import Tokens
from tests.support.providers.delivery import Delivery, Served, StreamedAnswer
from tests.support.providers.dialect import Body, Dialect
from tests.support.providers.script import Script

VECTOR = [0.6, 0.8]


class FakeProvider:
    """Behaves as its scripts say, and remembers.

    Attributes:
        script: what it does with a request.
        scripts: what it does with the next requests, before it comes to `script`.
        served: every request, oldest first.
        healthy: what its health check says.
        models: the names it lists.
    """

    def __init__(self, script: Script | None = None) -> None:
        self.script = script or Script()
        self.scripts: deque[Script] = deque()
        self.served: list[Served] = []
        self.healthy = True
        self.models: tuple[str, ...] = ("smollm2-135m-instruct", "all-minilm-l6-v2")
        self.rates = {"prefill_tokens_per_second": 1000.0, "decode_tokens_per_second": 50.0}
        self._changed = asyncio.Event()

    @property
    def last(self) -> Served:
        """The latest request."""
        return self.served[-1]

    @property
    def tokens(self) -> list[Tokens]:
        """What each request truly used, oldest first."""
        return [served.tokens for served in self.served]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something that is remembered is so.

        Raises:
            TimeoutError: it does not become so in ten seconds.
        """
        async with asyncio.timeout(10):
            while not condition():
                self._changed.clear()
                if not condition():
                    await self._changed.wait()

    async def until_made(self, pieces: int) -> None:
        """Wait until so many pieces of the latest answer are made and on their way."""
        await self.until(lambda: bool(self.served) and self.last.made >= pieces)

    async def until_ended(self) -> Served:
        """Wait for the end of the latest request, and return it."""
        await self.until(lambda: bool(self.served) and bool(self.last.ended))
        return self.last

    def app(self) -> Starlette:
        """Return the provider as an application."""
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self._openai(chat), methods=["POST"]),
                Route("/v1/completions", self._openai(completions), methods=["POST"]),
                Route("/v1/responses", self._openai(responses), methods=["POST"]),
                Route("/v1/messages", self._openai(messages), methods=["POST"]),
                Route("/v1/messages/count_tokens", self._count, methods=["POST"]),
                Route("/v1/embeddings", self._embed, methods=["POST"]),
                Route("/v1/models", self._models),
                Route("/health", self._health),
                Route("/v1beta/models/{model:path}", self._gemini, methods=["POST"]),
                Route("/model/{model:path}/converse-stream", self._converse_stream, methods=["POST"]),
                Route("/model/{model:path}/converse", self._converse, methods=["POST"]),
                Route("/model/{model:path}/invoke", self._invoke, methods=["POST"]),
            ]
        )

    def _openai(self, dialect: Dialect) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            body = await request.json()
            return self._answer(dialect, request, body, stream=body.get("stream") is True)

        return answer

    def _answer(self, dialect: Dialect, request: Request, body: Body, *, stream: bool) -> Response:
        script, served = self._remember(request, body)
        if script.hang_up or (script.status == 200 and (stream or script.body is not None)):
            return StreamedAnswer(Delivery(dialect, script, served, self._changed.set))
        if script.status != 200:
            served.ended = "refused"
            told = script.body or msgspec.json.encode(dialect.failure(script.status, *script.error))
            kind = "application/json" if script.body is None else script.kind
            return Response(told, script.status, script.headers, kind)
        served.made, served.ended = len(script.answer.pieces), "whole"
        return JSONResponse(dialect.whole(script.answer, script, body), headers=script.headers)

    def _remember(self, request: Request, body: Body) -> tuple[Script, Served]:
        script = self.scripts.popleft() if self.scripts else self.script
        served = Served(path=request.url.path, headers=dict(request.headers), body=body, answer=script.answer)
        self.served.append(served)
        self._changed.set()
        return script, served

    async def _gemini(self, request: Request) -> Response:
        body, (model, _, verb) = await request.json(), str(request.path_params["model"]).rpartition(":")
        match verb:
            case "streamGenerateContent" | "generateContent":
                stream = verb == "streamGenerateContent"
                return self._answer(gemini, request, body | {"model": model}, stream=stream)
            case "countTokens":
                return self._told(request, body, lambda used: {"totalTokens": used.prompt.total})
            case "embedContent":
                return self._told(request, body, lambda _: {"embedding": {"values": VECTOR}})
            case _:
                vectors = [{"values": VECTOR} for _ in body.get("requests", ())]
                return self._told(request, body, lambda _: {"embeddings": vectors})

    async def _converse_stream(self, request: Request) -> Response:
        return self._answer(converse, request, await request.json(), stream=True)

    async def _converse(self, request: Request) -> Response:
        return self._answer(converse, request, await request.json(), stream=False)

    async def _invoke(self, request: Request) -> Response:
        told = {"embedding": VECTOR, "embeddings": [VECTOR]}
        return self._told(request, await request.json(), lambda used: told | {"inputTextTokenCount": used.prompt.total})

    async def _count(self, request: Request) -> Response:
        return self._told(request, await request.json(), lambda used: {"input_tokens": used.prompt.total})

    async def _embed(self, request: Request) -> Response:
        body = await request.json()
        inputs = body.get("input")
        many = len(inputs) if isinstance(inputs, list) and inputs and not isinstance(inputs[0], int) else 1
        data = [{"object": "embedding", "index": index, "embedding": VECTOR} for index in range(many)]
        head = {"object": "list", "data": data, "model": body.get("model")}
        usage = {"prompt_tokens": self.script.answer.prompt.total, "total_tokens": self.script.answer.prompt.total}
        return self._told(request, body, lambda _: head | self.script.usage_field("usage", lambda _: usage, _))

    def _told(self, request: Request, body: Body, reply: Callable[[Tokens], Body]) -> Response:
        """Answer with one body that costs the prompt alone."""
        script, served = self._remember(request, body)
        if script.status != 200:
            served.ended = "refused"
            return JSONResponse(chat.failure(script.status, *script.error), script.status, script.headers)
        served.ended = "whole"
        return JSONResponse(reply(served.tokens), headers=script.headers)

    async def _models(self, _: Request) -> Response:
        entries = [
            {"id": name, "object": "model", "max_model_len": 8192, "measured": self.rates} for name in self.models
        ]
        return JSONResponse({"object": "list", "data": entries})

    async def _health(self, _: Request) -> Response:
        return Response(status_code=200 if self.healthy else 503)
