"""Recorded exchanges with providers: what was asked, what went upstream, what came back, and what that means.

A folder of `tests/conformance/exchanges/` is one provider. Its `provider.json` says how a policy names it and what a
plain question to it looks like; every other file is a case, in JSON, with the bytes of the reply beside it: `.txt` as
they came, or `.frames` with one event of AWS on each line, its name before its JSON.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec
from msgspec import Struct, field

from gateway.counting.calibration import Calibration
from gateway.counting.tally import Prompt, Tally
from gateway.providers.upstream import Dialect
from gateway.steps.metering import Meter
from governance.prices import Usage
from tests.support.providers.framing import binary

BOUND: Final = 64
ROOT: Final = Path(__file__).parents[1] / "conformance" / "exchanges"


class Provider(Struct, frozen=True, forbid_unknown_fields=True):
    """One provider.

    Attributes:
        section: what a policy says of it.
        url: where a chat is posted.
        credentials: the headers that say who asks; of a signature, how the header begins.
        asked: the body of a plain chat.
        sent: the body that goes upstream for it.
    """

    section: dict[str, Any]
    url: str
    credentials: dict[str, str]
    asked: dict[str, Any]
    sent: dict[str, Any]


class Reply(Struct, frozen=True, forbid_unknown_fields=True):
    """The head of what came back."""

    status: int = 200
    headers: dict[str, str] = {}


class Call(Struct, frozen=True, forbid_unknown_fields=True):
    """A call of a tool; an `id` that is not said is one that the provider does not give."""

    name: str
    arguments: str
    id: str | None = None


class Failure(Struct, frozen=True, forbid_unknown_fields=True):
    """An error: its class here, the provider's status, and what our caller is told."""

    kind: str
    shown: int
    code: str
    status: int | None = None
    retry_after_s: float | None = None
    says: str | None = None


class Meaning(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a reply means. The usage names the classes that are not zero."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    calls: list[Call] = []
    finish: str | None = None
    usage: dict[str, int] = {}
    error: Failure | None = None


class Exchange(Struct, frozen=True, forbid_unknown_fields=True):
    """One case; what it does not say of the request is that of the provider's plain chat, `spoken` in its dialect."""

    source: str
    meant: Meaning
    reply: Reply = field(default_factory=Reply)
    asked: dict[str, Any] | None = None
    sent: dict[str, Any] | None = None
    spoken: Dialect = "chat"


class Recorded(Struct, frozen=True):
    """An exchange, with whom, and the bytes of the reply."""

    provider: Provider
    exchange: Exchange
    body: bytes

    @property
    def asked(self) -> dict[str, Any]:
        """The body of the chat."""
        return self.provider.asked if self.exchange.asked is None else self.exchange.asked

    @property
    def sent(self) -> dict[str, Any]:
        """The body that goes upstream."""
        return self.provider.sent if self.exchange.sent is None else self.exchange.sent


class Playback(httpx.AsyncBaseTransport):
    """Answers every request with a recorded reply, in pieces of `size` bytes, and remembers the requests."""

    def __init__(self, recorded: Recorded, size: int | None) -> None:
        self.requests: list[httpx.Request] = []
        self._recorded = recorded
        self._size = size or max(1, len(recorded.body))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        self.requests.append(request)
        reply = self._recorded.exchange.reply
        return httpx.Response(reply.status, headers=reply.headers, content=self._pieces(), request=request)

    async def _pieces(self) -> AsyncIterator[bytes]:
        body = self._recorded.body
        for start in range(0, len(body), self._size):
            yield body[start : start + self._size]


def cases() -> Iterator[tuple[str, Path]]:
    """Yield every case by its name, such as `groq/text`."""
    for path in sorted(ROOT.glob("*/*.json")):
        if path.stem != "provider":
            yield f"{path.parent.name}/{path.stem}", path


def load(path: Path) -> Recorded:
    """Read one case."""
    provider = msgspec.json.decode((path.parent / "provider.json").read_bytes(), type=Provider)
    exchange = msgspec.json.decode(path.read_bytes(), type=Exchange)
    frames = path.with_suffix(".frames")
    body = path.with_suffix(".txt").read_bytes() if not frames.exists() else _framed(frames.read_text())
    return Recorded(provider, exchange, body)


def _framed(lines: str) -> bytes:
    named = (line.split(" ", 1) for line in lines.splitlines())
    kinds = {True: "exception", False: "event"}
    return b"".join(binary(kinds[name.endswith("Exception")], name, msgspec.json.decode(data)) for name, data in named)


def a_meter() -> Meter:
    """Return a meter of one answer."""
    return Meter(Tally("m", Calibration(), Prompt({"messages": []}, 100)), BOUND)


def meaning(completion: dict[str, Any], usage: Usage | None, failure: Failure | None) -> Meaning:
    """Return what a completion says and uses."""
    choice: dict[str, Any] = next(iter(completion["choices"]), {"message": {}})
    message: dict[str, Any] = choice["message"]
    return Meaning(
        text=message.get("content") or "",
        reasoning=message.get("reasoning_content") or message.get("reasoning") or "",
        refusal=message.get("refusal") or "",
        calls=[
            Call(call["function"]["name"], call["function"]["arguments"], call.get("id") or None)
            for call in message.get("tool_calls") or []
        ],
        finish=choice.get("finish_reason"),
        usage=msgspec.to_builtins(usage) if usage else {},
        error=failure,
    )
