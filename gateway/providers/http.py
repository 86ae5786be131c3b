"""A provider behind one address: it posts what an API says, hears the answer, and names what went wrong."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

import aiohttp
import httpx
import msgspec

from gateway.errors import UpstreamError, UpstreamTimeout, UpstreamUnreached
from gateway.providers.apis import Api
from gateway.providers.refusals import refusal
from gateway.providers.replies import (
    MOST_EMBEDDINGS_BYTES,
    MOST_MODELS_BYTES,
    MOST_REFUSAL_BYTES,
    as_object,
    read_start,
    read_whole,
)
from gateway.providers.upstream import Call, Chunk, Dialect, Leave, Served, Status, Wanted

_HEALTH_S = 2.0
_JSON = {"content-type": "application/json"}


@dataclass(frozen=True, slots=True)
class Habits:
    """What a kind of provider does beside answering.

    Attributes:
        leave: what to do upstream when the client leaves.
        watched: it has a `/health` to ask; a cloud provider is known only by its answers.
    """

    leave: Leave
    watched: bool


class HttpUpstream:
    """One provider behind one base URL."""

    def __init__(self, name: str, zone: str, habits: Habits, api: Api, client: httpx.AsyncClient) -> None:
        self.name = name
        self.zone = zone
        self.leave: Leave = habits.leave
        self.status = Status("not asked yet") if habits.watched else Status()
        self._watched = habits.watched
        self._api = api
        self._client = client

    def write(self, call: Call) -> Wanted:
        """Say a call in the provider's own words."""
        return self._api.chat(call)

    @asynccontextmanager
    async def stream(self, wanted: Wanted, request_id: str) -> AsyncGenerator[AsyncIterator[Chunk]]:
        """Open the stream of an answer."""
        async with self._post(wanted, request_id) as response:
            yield self._chunks(response, wanted)

    def write_embeddings(self, body: dict[str, Any]) -> Wanted:
        """Say an embeddings request in the provider's own words."""
        return self._api.embeddings(body)

    async def embed(self, wanted: Wanted, body: dict[str, Any], request_id: str) -> dict[str, Any]:
        """Return the reply to an embeddings request."""
        async with self._post(wanted, request_id) as response:
            reply = self._sound(await read_whole(response.aiter_raw(), MOST_EMBEDDINGS_BYTES, self.name))
            value = self._api.embedded(reply, body, response.headers)
        if not isinstance(value.get("data"), list):
            raise UpstreamError(f"Provider {self.name!r} answered without embeddings.", self.name)
        return value

    async def refresh(self) -> None:
        """Ask for health and models; what cannot be reached is unavailable, with the reason."""
        if not self._watched:
            return
        try:
            async with self._client.stream("GET", "../health", timeout=_HEALTH_S) as health:
                if not health.is_success:
                    self.status = Status(f"answers {health.status_code} to a health check")
                    return
            headers = self._api.headers("models", b"")
            async with self._client.stream("GET", "models", headers=headers, timeout=_HEALTH_S) as models:
                listed = self._sound(await read_whole(models.aiter_raw(), MOST_MODELS_BYTES, self.name))
            self.status = Status(served=_served(listed))
        except httpx.ReadTimeout:
            self.status = Status("does not answer a health check in time")
        except (httpx.HTTPError, OSError, UpstreamError) as error:
            # httpx-aiohttp calls every lost connection a ConnectTimeout, so its name would mislead.
            self.status = Status("sends nonsense" if isinstance(error, UpstreamError) else "cannot be reached")

    @property
    def dialect(self) -> Dialect:
        """What its answers are written in."""
        return self._api.dialect

    def hear(self, wanted: Wanted, body: bytes) -> list[Chunk]:
        """Return the chunks of an answer that came in one piece.

        Raises:
            UpstreamError: it makes no sense, or is an error.
        """
        ear = self._api.ear(self.name, wanted)
        return [self._answer(chunk) for chunk in (*ear.feed(body), *ear.end())]

    def refused(self, status: int, body: bytes) -> UpstreamError:
        """Return the error that a reply of a status stands for."""
        return refusal(self.name, status, {}, self._api.error(body))

    async def ask(
        self,
        method: Literal["GET", "POST"],
        path: str,
        *,
        body: dict[str, Any] | None = None,
        form: tuple[dict[str, str], dict[str, tuple[str, bytes, str]]] | None = None,
    ) -> dict[str, Any]:
        """Return the JSON object that the provider replies with to something beside a model's call.

        Args:
            method: of HTTP.
            path: below its address.
            body: what is sent, as JSON.
            form: what is sent, as the fields and files of a form.
        """
        url = self._client.base_url.join(path)
        content = None if body is None else msgspec.json.encode(body)
        headers = self._api.headers(str(url), content or b"") | ({} if body is None else _JSON)
        data, files = form or (None, None)
        request = self._client.build_request(method, url, content=content, data=data, files=files, headers=headers)
        async with self._sent(request) as response:
            return as_object(await read_whole(response.aiter_raw(), MOST_MODELS_BYTES, self.name), self.name)

    @asynccontextmanager
    async def reading(self, path: str) -> AsyncGenerator[AsyncIterator[bytes]]:
        """Read a file of the provider, piece by piece."""
        url = self._client.base_url.join(path)
        async with self._sent(self._client.build_request("GET", url, headers=self._api.headers(str(url), b""))) as r:
            yield r.aiter_raw()

    @asynccontextmanager
    async def _post(self, wanted: Wanted, request_id: str) -> AsyncGenerator[httpx.Response]:
        content = msgspec.json.encode(wanted.body)
        url = self._client.base_url.join(wanted.path)
        headers = _JSON | {"x-request-id": request_id} | {**wanted.headers, **self._api.headers(str(url), content)}
        async with self._sent(self._client.build_request("POST", url, content=content, headers=headers)) as response:
            yield response

    @asynccontextmanager
    async def _sent(self, request: httpx.Request) -> AsyncGenerator[httpx.Response]:
        try:
            response = await self._client.send(request, stream=True)
            try:
                if not response.is_success:
                    said = self._api.error(await read_start(response.aiter_raw(), MOST_REFUSAL_BYTES))
                    raise refusal(self.name, response.status_code, response.headers, said)
                yield response
            finally:
                await response.aclose()
        except httpx.ReadTimeout:
            raise UpstreamTimeout(f"Provider {self.name!r} went silent.", self.name) from None
        except (httpx.HTTPError, OSError) as error:
            # httpx-aiohttp gives every lost connection one name; only its cause tells whether there was any.
            unreached = isinstance(error.__cause__, aiohttp.ClientConnectorError)
            kind = UpstreamUnreached if unreached else UpstreamError
            raise kind(f"The connection to provider {self.name!r} failed.", self.name) from error

    async def _chunks(self, response: httpx.Response, wanted: Wanted) -> AsyncIterator[Chunk]:
        ear = self._api.ear(self.name, wanted)
        async for read in response.aiter_raw():
            for chunk in ear.feed(read):
                yield self._answer(chunk)
            if ear.done:
                return
        for chunk in ear.end():
            yield self._answer(chunk)

    def _answer(self, chunk: Chunk) -> Chunk:
        error = chunk.value.get("error")
        if error:
            raise refusal(self.name, None, {}, error if isinstance(error, dict) else {"message": str(error)})
        return chunk

    def _sound(self, payload: bytes) -> dict[str, Any]:
        value = as_object(payload, self.name)
        if value.get("error"):
            raise refusal(self.name, None, {}, self._api.error(payload))
        return value


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
