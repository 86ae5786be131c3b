"""A provider behind one address: it posts what an API says, hears the answer, and names what went wrong."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final, Literal

import aiohttp
import anyio
import httpx
import msgspec

from gateway.errors import (
    BadRequest,
    OutOfZone,
    UpstreamError,
    UpstreamStale,
    UpstreamTimeout,
    UpstreamUnconnected,
    UpstreamUnreached,
)
from gateway.policy.reliability import Timeouts
from gateway.providers.apis import Api
from gateway.providers.apis.counts import Counter
from gateway.providers.leaving import Leave
from gateway.providers.refusals import refusal
from gateway.providers.replies import (
    MOST_COUNT_BYTES,
    MOST_EMBEDDINGS_BYTES,
    MOST_METRICS_BYTES,
    MOST_MODELS_BYTES,
    MOST_REFUSAL_BYTES,
    as_object,
    read_start,
    read_whole,
    without_secrets,
)
from gateway.providers.served import served_of
from gateway.providers.transport import was_kept
from gateway.providers.upstream import Call, Chunk, Dialect, Status, Wanted
from gateway.providers.vllm_metrics import Watch
from governance.confinement.confined import Confined

_HEALTH_S = 2.0
_AT_ONCE_S = 1.0
_COUNT_S = 5.0
_SIGNS_OF_LIFE: Final = (Chunk(b"", {}),)
"""What is heard of bytes that complete no event, such as comments: the provider is there."""
_FILE_S = 60.0
"""How long a provider may be silent about something beside a model's call."""

_JSON = {"content-type": "application/json"}


@dataclass(frozen=True, slots=True)
class Habits:
    """What a kind of provider does beside answering.

    Attributes:
        leave: what to do upstream when the client leaves, unless the policy says otherwise.
        sells: it may bill what it has computed, though nobody waited for it.
        watched: it has a `/health` to ask; a cloud provider is known only by its answers.
        metered: its speeds are read from its `/metrics`, as vLLM has them.
        counter: how it is asked to count the tokens of a prompt; None where it cannot be.
        timeouts: how long it is waited for.
    """

    leave: Leave
    sells: bool
    watched: bool
    metered: bool = False
    counter: Counter | None = None
    timeouts: Timeouts = field(default_factory=Timeouts)


class HttpUpstream:
    """One provider behind one base URL."""

    def __init__(self, name: str, zone: str, habits: Habits, api: Api, client: httpx.AsyncClient) -> None:
        self.name = name
        self.zone = zone
        self.leave = habits.leave
        self.sells = habits.sells
        self.timeouts = habits.timeouts
        self.status = Status("not asked yet") if habits.watched else Status()
        self._watched = habits.watched
        self._machine = Watch() if habits.metered else None
        self._counter = habits.counter
        self.counts = habits.counter is not None
        self._api = api
        self._client = client

    def write(self, call: Call) -> Wanted:
        """Say a call in the provider's own words."""
        return self._inside(call.confined, self._api.chat(call))

    @asynccontextmanager
    async def stream(self, wanted: Wanted, request_id: str) -> AsyncGenerator[AsyncIterator[Chunk]]:
        """Open the stream of an answer; how long it may be silent is for its reader to say."""
        async with self._post(wanted, request_id, silent_s=None) as response:
            yield self._chunks(response, wanted)

    def write_embeddings(self, body: dict[str, Any], confined: Confined) -> Wanted:
        """Say an embeddings request in the provider's own words."""
        return self._inside(confined, self._api.embeddings(body))

    async def embed(self, wanted: Wanted, body: dict[str, Any], request_id: str) -> dict[str, Any]:
        """Return the reply to an embeddings request."""
        async with self._post(wanted, request_id, self.timeouts.first_token_s) as response:
            reply = self._sound(await read_whole(response.aiter_raw(), MOST_EMBEDDINGS_BYTES, self.name))
            value = self._api.embedded(reply, body, response.headers)
        if not isinstance(value.get("data"), list):
            raise UpstreamError(f"Provider {self.name!r} answered without embeddings.", self.name)
        return value

    async def count(self, call: Call, request_id: str) -> int | None:
        """Ask for the count of a prompt; None where there is none to be had, or not in time."""
        if self._counter is None:
            return None
        try:
            with anyio.move_on_after(_COUNT_S):
                wanted = self._inside(call.confined, self._counter.ask(call))
                async with self._post(wanted, request_id, _COUNT_S) as response:
                    reply = self._sound(await read_whole(response.aiter_raw(), MOST_COUNT_BYTES, self.name))
                return self._counter.told(reply)
        except (UpstreamError, BadRequest):
            pass
        return None

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
            served = served_of(listed)
            if self._machine is not None:
                speeds = self._machine.look(await self._metrics(), monotonic())
                served = dict.fromkeys(served, speeds)
            self.status = Status(served=served)
        except httpx.ReadTimeout:
            self.status = Status("does not answer a health check in time")
        except (httpx.HTTPError, OSError, UpstreamError) as error:
            # httpx-aiohttp calls every lost connection a ConnectTimeout, so its name would mislead.
            self.status = Status("sends nonsense" if isinstance(error, UpstreamError) else "cannot be reached")

    async def _metrics(self) -> str:
        """Return the page of metrics; empty where there is none to be had, which is no reason not to send calls."""
        try:
            async with self._client.stream("GET", "../metrics", timeout=_HEALTH_S) as metrics:
                page = await read_whole(metrics.aiter_raw(), MOST_METRICS_BYTES, self.name)
        except (httpx.HTTPError, OSError, UpstreamError):
            return ""
        return page.decode(errors="replace") if metrics.is_success else ""

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
        request = self._client.build_request(
            method, url, content=content, data=data, files=files, headers=headers, timeout=self._timeout(_FILE_S)
        )
        async with self._sent(request, _FILE_S) as response:
            return as_object(await read_whole(response.aiter_raw(), MOST_MODELS_BYTES, self.name), self.name)

    @asynccontextmanager
    async def reading(self, path: str) -> AsyncGenerator[AsyncIterator[bytes]]:
        """Read a file of the provider, piece by piece."""
        url = self._client.base_url.join(path)
        headers, timeout = self._api.headers(str(url), b""), self._timeout(_FILE_S)
        async with self._sent(self._client.build_request("GET", url, headers=headers, timeout=timeout), _FILE_S) as r:
            yield r.aiter_raw()

    @asynccontextmanager
    async def _post(self, wanted: Wanted, request_id: str, silent_s: float | None) -> AsyncGenerator[httpx.Response]:
        content = msgspec.json.encode(self._inside(wanted.confined, wanted).body)
        url = self._client.base_url.join(wanted.path)
        headers = _JSON | {"x-request-id": request_id} | {**wanted.headers, **self._api.headers(str(url), content)}
        timeout = self._timeout(silent_s)
        request = self._client.build_request("POST", url, content=content, headers=headers, timeout=timeout)
        async with self._sent(request, silent_s) as response:
            yield response

    def _inside(self, confined: Confined | None, wanted: Wanted) -> Wanted:
        """Let through what may go to this provider: the last look before bytes go out, whoever chose it.

        Raises:
            OutOfZone: it may not, or nobody has said where it may go.
        """
        if confined is None:
            text = f"Nobody has said where what is posted to provider {self.name!r} may go."
            raise OutOfZone(text, self.name, self.zone)
        if not confined.permits(self.zone):
            text = f"The request is confined to zone {confined.zone!r}; provider {self.name!r} is in {self.zone!r}."
            raise OutOfZone(text, self.name, self.zone)
        return wanted._replace(confined=confined)

    def _timeout(self, silent_s: float | None) -> httpx.Timeout:
        return httpx.Timeout(silent_s, connect=self.timeouts.connect_s, pool=self.timeouts.first_token_s)

    @asynccontextmanager
    async def _sent(self, request: httpx.Request, silent_s: float | None) -> AsyncGenerator[httpx.Response]:
        sent_at, begun = anyio.current_time(), False
        try:
            response = await self._client.send(request, stream=True)
            begun = True
            try:
                if not response.is_success:
                    body = await read_start(response.aiter_raw(), MOST_REFUSAL_BYTES)
                    said = self._api.error(without_secrets(body, request.headers))
                    raise refusal(self.name, response.status_code, response.headers, said)
                yield response
            finally:
                await response.aclose()
        except httpx.ReadTimeout:
            raise UpstreamTimeout(f"Provider {self.name!r} did not answer within {silent_s:g} s.", self.name) from None
        except (httpx.HTTPError, OSError) as error:
            if isinstance(error.__cause__, aiohttp.ConnectionTimeoutError):
                text = f"Provider {self.name!r} took no connection within {self.timeouts.connect_s:g} s."
                raise UpstreamUnconnected(text, self.name) from error
            at_once = not begun and anyio.current_time() - sent_at < _AT_ONCE_S
            raise _lost(error, at_once=at_once)(
                f"The connection to provider {self.name!r} failed.", self.name
            ) from error

    async def _chunks(self, response: httpx.Response, wanted: Wanted) -> AsyncIterator[Chunk]:
        ear = self._api.ear(self.name, wanted)
        async for read in response.aiter_raw():
            for chunk in ear.feed(read) or _SIGNS_OF_LIFE:
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


def _lost(error: Exception, *, at_once: bool) -> type[UpstreamError]:
    """Say what it means that a connection was lost, or that there was none.

    httpx-aiohttp gives all that one name; only the cause tells. One that was kept, and is lost as soon as it is used
    again, had been closed by the provider while the call was on its way to it.
    """
    if isinstance(error.__cause__, aiohttp.ClientConnectorError):
        return UpstreamUnreached
    return UpstreamStale if at_once and was_kept() else UpstreamError
