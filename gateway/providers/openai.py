"""A provider that speaks the OpenAI API: OpenAI itself, the bundled engine, vLLM, and most others.

Spec: the OpenAI API reference for chat completions and embeddings; vLLM's extensions `continuous_usage_stats` and
`cache_salt`, which the bundled engine shares.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import httpx
import msgspec

from gateway.errors import UpstreamError, UpstreamTimeout, UpstreamUnreached
from gateway.providers.refusals import refusal
from gateway.providers.replies import (
    MOST_COMPLETION_BYTES,
    MOST_EMBEDDINGS_BYTES,
    MOST_MODELS_BYTES,
    MOST_REFUSAL_BYTES,
    as_chunk,
    read_start,
    read_whole,
)
from gateway.providers.upstream import Chunk, Leave, Served, Status
from gateway.wire.sse import DONE, EventSplitter, EventTooLong

_HEALTH_S = 2.0


@dataclass(frozen=True, slots=True)
class Habits:
    """How a kind of provider behaves where the API leaves it open.

    Attributes:
        leave: what to do upstream when the client leaves.
        usage_per_chunk: it can say the usage so far with every chunk, so a cut stream is still counted exactly.
        salted: its prefix cache takes a salt, so that no tenant can time another's prompts.
        limit_field: the field that bounds an answer; the other name for it might be ignored.
        watched: it has a `/health` to ask; a cloud provider is known only by its answers.
    """

    leave: Leave
    usage_per_chunk: bool
    salted: bool
    limit_field: str
    watched: bool


class OpenAIUpstream:
    """One provider behind one base URL."""

    def __init__(self, name: str, zone: str, habits: Habits, client: httpx.AsyncClient, api_key: str | None) -> None:
        self.name = name
        self.zone = zone
        self.leave: Leave = habits.leave
        self.status = Status("not asked yet") if habits.watched else Status()
        self._habits = habits
        self._client = client
        self._headers = {"authorization": f"Bearer {api_key}"} if api_key else {}

    def bound(self, body: dict[str, Any], max_tokens: int, tenant: str) -> dict[str, Any]:
        """Return `body` with its answer bounded in the one field that this kind is known to obey."""
        bounded = body | {self._habits.limit_field: max_tokens}
        if self._habits.salted:
            bounded["cache_salt"] = f"{tenant}|{body.get('cache_salt') or ''}"
        return bounded

    @asynccontextmanager
    async def stream(self, body: dict[str, Any], request_id: str) -> AsyncGenerator[AsyncIterator[Chunk]]:
        """Open a streamed chat completion, always with usage."""
        options: dict[str, Any] = {"include_usage": True}
        if self._habits.usage_per_chunk:
            options["continuous_usage_stats"] = True
        async with self._post("chat/completions", body | {"stream": True, "stream_options": options}, request_id) as r:
            yield self._chunks(r)

    async def embed(self, body: dict[str, Any], request_id: str) -> dict[str, Any]:
        """Return the reply to an embeddings request."""
        async with self._post("embeddings", body, request_id) as response:
            value = self._object(await read_whole(response.aiter_raw(), MOST_EMBEDDINGS_BYTES, self.name))
        if not isinstance(value.get("data"), list):
            raise UpstreamError(f"Provider {self.name!r} answered without embeddings.", self.name)
        return value

    async def refresh(self) -> None:
        """Ask for health and models; what cannot be reached is unavailable, with the reason."""
        if not self._habits.watched:
            return
        try:
            async with self._client.stream("GET", "../health", timeout=_HEALTH_S) as health:
                if not health.is_success:
                    self.status = Status(f"answers {health.status_code} to a health check")
                    return
            async with self._client.stream("GET", "models", headers=self._headers, timeout=_HEALTH_S) as models:
                listed = self._object(await read_whole(models.aiter_raw(), MOST_MODELS_BYTES, self.name))
            self.status = Status(served=_served(listed))
        except httpx.ReadTimeout:
            self.status = Status("does not answer a health check in time")
        except (httpx.HTTPError, OSError, UpstreamError) as error:
            # httpx-aiohttp calls every lost connection a ConnectTimeout, so its name would mislead.
            self.status = Status("sends nonsense" if isinstance(error, UpstreamError) else "cannot be reached")

    @asynccontextmanager
    async def _post(self, path: str, body: Mapping[str, Any], request_id: str) -> AsyncGenerator[httpx.Response]:
        headers = self._headers | {"content-type": "application/json", "x-request-id": request_id}
        try:
            async with self._client.stream(
                "POST", path, content=msgspec.json.encode(body), headers=headers
            ) as response:
                if not response.is_success:
                    said = await read_start(response.aiter_raw(), MOST_REFUSAL_BYTES)
                    raise refusal(self.name, response.status_code, response.headers, said)
                yield response
        except httpx.ReadTimeout:
            raise UpstreamTimeout(f"Provider {self.name!r} went silent.", self.name) from None
        except (httpx.HTTPError, OSError) as error:
            # httpx-aiohttp gives every lost connection one name; only its cause tells whether there was any.
            unreached = isinstance(error.__cause__, aiohttp.ClientConnectorError)
            kind = UpstreamUnreached if unreached else UpstreamError
            raise kind(f"The connection to provider {self.name!r} failed.", self.name) from error

    async def _chunks(self, response: httpx.Response) -> AsyncIterator[Chunk]:
        reads, splitter = response.aiter_raw(), EventSplitter(MOST_COMPLETION_BYTES)
        read = await anext(reads, b"")
        if read.lstrip()[:1] == b"{":  # no event begins so: it is the whole completion, though a stream was asked for
            whole = await read_whole(reads, MOST_COMPLETION_BYTES, self.name, read)
            value = as_chunk(self._object(whole))
            yield Chunk(msgspec.json.encode(value), value)
            return
        try:
            while read:
                for payload in splitter.feed(read):
                    if payload == DONE:
                        return
                    yield Chunk(payload, self._object(payload))
                read = await anext(reads, b"")
        except EventTooLong:
            raise UpstreamError(f"Provider {self.name!r} sent an event that is too long.", self.name) from None
        # Some end without the blank line that ends an event. What is broken here is missed only by an answer that is
        # not complete, and whoever meters it sees that.
        rest = splitter.end()
        if rest is not None and isinstance(_json(rest), dict):
            yield Chunk(rest, self._object(rest))

    def _object(self, payload: bytes) -> dict[str, Any]:
        value = _json(payload)
        if not isinstance(value, dict):
            raise UpstreamError(f"Provider {self.name!r} sent something that is not a JSON object.", self.name)
        if value.get("error"):
            raise refusal(self.name, None, {}, payload)
        return value


def _json(payload: bytes) -> object:
    try:
        return msgspec.json.decode(payload)
    except (msgspec.DecodeError, RecursionError):
        return None


def _served(models: dict[str, Any]) -> dict[str, Served]:
    entries = models.get("data")
    return {
        entry["id"]: _one_served(entry)
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("id"), str)
    }


def _one_served(entry: dict[str, Any]) -> Served:
    rates = entry.get("measured")
    prefill, decode = (
        rates.get(name) if isinstance(rates, dict) else None
        for name in ("prefill_tokens_per_second", "decode_tokens_per_second")
    )
    return Served(
        float(prefill) if isinstance(prefill, int | float) and prefill > 0 else None,
        float(decode) if isinstance(decode, int | float) and decode > 0 else None,
    )
