"""What every hot endpoint does around its answer: identify, read, time, and turn errors into replies."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Protocol, TypeVar

from gateway.deferred.traffic import Traffic
from gateway.errors import BadRequest
from gateway.governing.governed import Governed
from gateway.governing.in_force import InForce
from gateway.operations.metrics import Metrics
from gateway.providers.upstream import Dialect
from gateway.steps.admission import Asked
from gateway.wire.body import LIMIT_BYTES
from gateway.wire.departure import Receive
from gateway.wire.errors import UNEXPECTED, ErrorBody, openai_error, shape_of
from gateway.wire.reply import Send, send_error
from gateway.wire.request.attribution import read_offered
from gateway.wire.request.controls import DEFERRED, PRIORITY, Headers, credential, read_controls, read_headers
from governance.errors import BudgetExhausted, Unauthenticated, UnknownTeam
from governance.identity import Caller, Keyring

Scope = dict[str, Any]

BODY_S: Final = 60.0
"""How long a client may take to send its body."""

_DISCARD_BYTES = 8 * LIMIT_BYTES


class ClientLeft(Exception):
    """The client went away before its request was complete; nobody is left to answer."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One HTTP request on its way: ours to name, time and answer."""

    request_id: str
    at: datetime
    tick: float
    headers: Headers
    receive: Receive
    send: Send


Answer = Callable[[Visit, Governed, Caller, bytes], Awaitable[None]]


class Later(Protocol):
    """Takes requests that wait, and replies that they do; `gateway.deferred.accepting.Acceptance` is the real one."""

    async def defer(self, path: str, visit: Visit, governed: Governed, caller: Caller, raw: bytes) -> None:
        """Take one whose client asked for it."""
        ...

    async def queue(
        self, path: str, visit: Visit, governed: Governed, caller: Caller, raw: bytes, refusal: BudgetExhausted
    ) -> None:
        """Take one whose budget wants it to wait, or raise the refusal."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """Serves one request. `now` is an aware clock, `ticks` a monotonic one in seconds, `new_id` makes request ids."""

    keyring: Keyring
    in_force: InForce
    metrics: Metrics
    traffic: Traffic
    later: Later
    now: Callable[[], datetime]
    ticks: Callable[[], float]
    new_id: Callable[[], str]

    async def serve(
        self,
        endpoint: str,
        scope: Scope,
        receive: Receive,
        send: Send,
        answer: Answer,
        written: ErrorBody = openai_error,
    ) -> None:
        """Let `answer` reply to the request, or reply with the error it raised, as it is `written` there.

        The key is checked before the body is read, so that nobody without one can make us hold megabytes; and again
        after it. A request belongs to the instant at which it is complete: a client that is slow with its body
        chooses neither the budget window it spends from nor how long its key stays good. The policy that is in force
        then governs it to its end.
        """
        visit = Visit(self.new_id(), self.now(), self.ticks(), read_headers(scope["headers"]), receive, send)
        try:
            self._identify(visit)
            raw = await read_body(receive, visit.headers)
            visit = replace(visit, at=self.now(), tick=self.ticks())
            with self.traffic.passing(), self.in_force.governing() as governed:
                await self._answer(scope["path"], visit, governed, self._identify(visit), raw, answer)
        except ClientLeft:
            pass
        except Exception as error:  # noqa: BLE001  here every error becomes a reply
            self.tell(visit, error)
            await send_error(send, error, visit.request_id, visit.at, written)
        finally:
            self.metrics.seconds.labels(endpoint).observe(self.ticks() - visit.tick)

    async def _answer(
        self, path: str, visit: Visit, governed: Governed, caller: Caller, raw: bytes, answer: Answer
    ) -> None:
        """Answer now, or later where the client asks for that or the budget wants it."""
        if visit.headers.get(PRIORITY) == DEFERRED:
            return await self.later.defer(path, visit, governed, caller, raw)
        try:
            await answer(visit, governed, caller, raw)
        except BudgetExhausted as refusal:
            if not refusal.queues or PRIORITY in visit.headers:
                raise
            await self.later.queue(path, visit, governed, caller, raw, refusal)

    def tell(self, visit: Visit, error: Exception) -> None:
        """Tell the log of an error; the unexpected ones with their traceback."""
        accounts = self.in_force.governed.accounts
        if isinstance(error, Unauthenticated):
            accounts.unauthenticated(visit.request_id, error.reason)
        elif shape_of(error) is UNEXPECTED:
            accounts.crashed(visit.request_id, error)
        elif isinstance(error, BadRequest | UnknownTeam):
            accounts.turned_away(visit.request_id, error)

    def _identify(self, visit: Visit) -> Caller:
        return self.keyring.authenticate(credential(visit.headers).text, visit.at)


class Fields(Protocol):
    """What every body of ours has."""

    @property
    def model(self) -> str:
        """The model or route it names."""
        ...

    @property
    def metadata(self) -> dict[str, Any] | None:
        """The dimensions it offers, among other things."""
        ...

    @property
    def user(self) -> str | None:
        """The end user it is made for."""
        ...


FieldsT = TypeVar("FieldsT", bound=Fields)


def ask(
    visit: Visit,
    caller: Caller,
    endpoint: str,
    size: int,
    body: dict[str, Any],
    fields: FieldsT,
    *,
    total_s: float,
    stream: bool = False,
    dialect: Dialect = "chat",
) -> Asked[FieldsT]:
    """Return a decoded request with what its headers say; `total_s` is the endpoint's own limit on its time.

    Raises:
        BadRequest: a control header has a value that means nothing.
    """
    controls = read_controls(visit.headers)
    return Asked(
        request_id=visit.request_id,
        at=visit.at,
        tick=visit.tick,
        endpoint=endpoint,
        caller=caller,
        offered=read_offered(visit.headers, fields.metadata, fields.user),
        controls=controls,
        body=body,
        size=size,
        fields=fields,
        model=fields.model,
        limit_s=controls.timeout_s or total_s,
        stream=stream,
        dialect=dialect,
    )


async def read_body(receive: Receive, headers: Headers, limit_s: float = BODY_S) -> bytes:
    """Return the whole body.

    Raises:
        BadRequest: it is larger than we read, or not complete within `limit_s` seconds.
        ClientLeft: the client went away in the middle of it.
    """
    declared = headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:12]) > _DISCARD_BYTES:
        raise _too_large()
    try:
        async with asyncio.timeout(limit_s):
            return await _gather(receive)
    except TimeoutError:
        raise BadRequest(f"The request body was not complete within {limit_s:g} s.") from None


async def _gather(receive: Receive) -> bytes:
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        more = message.get("more_body", False)
        size += len(message.get("body", b""))
        if size <= LIMIT_BYTES:
            parts.append(message.get("body", b""))
        elif size > _DISCARD_BYTES:
            break
        else:
            parts.clear()  # a client that is still writing would not see our answer: read on, and keep nothing
    if size > LIMIT_BYTES:
        raise _too_large()
    return b"".join(parts)


def _too_large() -> BadRequest:
    return BadRequest(f"The request body is larger than {LIMIT_BYTES // 2**20} MiB.")
