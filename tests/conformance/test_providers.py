"""One suite over every provider: what it is sent, and what its replies mean, in whatever pieces they come."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, get_args

import httpx
import msgspec
import pytest
from pydantic import TypeAdapter

from gateway.errors import UpstreamError, UpstreamOverloaded
from gateway.policy.models import Provider as ProviderSection
from gateway.policy.reliability import Timeouts
from gateway.providers import kinds
from gateway.providers.apis import Ear
from gateway.providers.apis.anthropic import AnthropicApi
from gateway.providers.apis.manners import OPENAI
from gateway.providers.apis.openai import OpenAIApi
from gateway.providers.apis.responses import ResponsesApi
from gateway.providers.upstream import Call as ProviderCall
from gateway.providers.upstream import Chunk, Upstream, Wanted
from gateway.speech import Speech
from gateway.speech.chat import ChatSpeech
from gateway.speech.messages import MessagesSpeech
from gateway.speech.responses import ResponsesSpeech
from gateway.steps.metering import Meter
from gateway.wire.errors import error_body, shape_of
from governance.confinement.confined import UNCONFINED
from governance.prices import Usage
from tests.support.exchanges import (
    BOUND,
    ROOT,
    Call,
    Failure,
    Meaning,
    Playback,
    Recorded,
    a_meter,
    cases,
    load,
    meaning,
)

SIZES = (1, 2, 3, 7, None)
ALWAYS = {"text", "tool_call", "cut_short", "blamed", "bad_key", "busy"}
"""What is recorded of every provider."""

NEVER = {
    "bundled": {"tool_call", "bad_key", "busy"},
    "lmstudio": {"bad_key", "busy"},
    "ollama": {"bad_key", "busy"},
    "tgi": {"bad_key"},
    "vllm": {"busy"},
}
"""What a server of one's own does not do: call tools, ask for a key, or turn anybody away."""

CLIENTS: dict[str, Callable[[], tuple[Speech, Ear]]] = {
    "chat": lambda: (ChatSpeech(usage=True), OpenAIApi(None, OPENAI).ear("gateway", UNSAID)),
    "messages": lambda: (MessagesSpeech("msg_1", "auto"), AnthropicApi(None, lambda: 0.0).ear("gateway", UNSAID)),
    "responses": lambda: (ResponsesSpeech("resp_1", {"model": "auto"}), ResponsesApi(None).ear("gateway", UNSAID)),
}
"""How each answers a client, and how a client reads it: as we read a provider of that dialect."""

UNSAID = Wanted("", {})
PROVIDERS = sorted(path.name for path in ROOT.iterdir())
EXCHANGES = {name: (path, load(path).exchange) for name, path in cases()}
CASES = [pytest.param(path, id=name) for name, (path, _) in EXCHANGES.items()]
ANSWERED = [pytest.param(path, id=name) for name, (path, one) in EXCHANGES.items() if one.meant.error is None]
ASKED = [pytest.param(path, id=name) for name, (path, one) in EXCHANGES.items() if one.asked or path.stem == "text"]
SECTION: TypeAdapter[Any] = TypeAdapter(ProviderSection)


@asynccontextmanager
async def opened(recorded: Recorded, playback: Playback, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Upstream]:
    def client(address: str) -> httpx.AsyncClient:
        base = address if address.startswith("http") else "http://engine/v1"
        return httpx.AsyncClient(base_url=base.rstrip("/") + "/", transport=playback)

    monkeypatch.setattr(kinds, "open_client", client)
    section = SECTION.validate_python(recorded.provider.section)
    async with AsyncExitStack() as stack:
        yield await kinds.open_upstream("seller", section, None, Timeouts(), "unix:/engine.sock", stack)


def write(upstream: Upstream, recorded: Recorded) -> Wanted:
    call = ProviderCall(
        body=recorded.asked, confined=UNCONFINED, max_tokens=BOUND, tenant="red/bot", spoken=recorded.exchange.spoken
    )
    return upstream.write(call)


async def replay(
    recorded: Recorded, size: int | None, monkeypatch: pytest.MonkeyPatch
) -> tuple[Meaning, list[Chunk], Meter]:
    """Hear a reply in pieces of `size` bytes."""
    meter, chunks, failure = a_meter(), list[Chunk](), None
    async with opened(recorded, Playback(recorded, size), monkeypatch) as upstream:
        try:
            async with upstream.stream(write(upstream, recorded), "req-1") as stream:
                async for chunk in stream:
                    chunks.append(chunk)
                    meter.see(chunk, 0.0)
            meter.check_complete("seller")
        except UpstreamError as error:
            failure = failed(error, recorded)
    return meaning(meter.completion(), meter.reported, failure), chunks, meter


def failed(error: UpstreamError, recorded: Recorded) -> Failure:
    """Return what an error says; its words only where the case knows them."""
    shape, known = shape_of(error), recorded.exchange.meant.error
    return Failure(
        kind=type(error).__name__,
        shown=shape.status,
        code=shape.code,
        status=error.status,
        retry_after_s=error.retry_after_s if isinstance(error, UpstreamOverloaded) else None,
        says=error_body(error)["error"]["message"] if known is not None and known.says is not None else None,
    )


@pytest.mark.parametrize("path", ASKED)
async def test_a_request_goes_upstream_as_its_provider_takes_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = load(path)
    playback = Playback(recorded, None)

    async with (
        opened(recorded, playback, monkeypatch) as upstream,
        upstream.stream(write(upstream, recorded), "req-1"),
    ):
        pass

    (request,) = playback.requests
    assert (request.method, str(request.url)) == ("POST", recorded.provider.url)
    assert msgspec.json.decode(request.content) == recorded.sent
    assert request.headers["content-type"] == "application/json"
    for name, value in recorded.provider.credentials.items():
        assert request.headers[name].startswith(value)


@pytest.mark.parametrize("path", CASES)
async def test_a_reply_means_the_same_in_whatever_pieces_it_comes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = load(path)

    for size in SIZES:
        heard, _, _ = await replay(recorded, size, monkeypatch)
        assert heard == recorded.exchange.meant, f"in pieces of {size} bytes"


@pytest.mark.parametrize("path", CASES)
async def test_every_token_that_a_provider_reports_is_in_one_class(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, meter = await replay(load(path), None, monkeypatch)
    usage, told = meter.reported, meter.completion()["usage"]

    if usage is not None:
        assert usage.total == max(told.get("total_tokens", 0), told["prompt_tokens"] + told["completion_tokens"])


@pytest.mark.parametrize("spoken", CLIENTS)
@pytest.mark.parametrize("path", CASES)
async def test_a_client_of_any_dialect_that_streams_reads_the_same_answer(
    path: Path, spoken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard, chunks, meter = await replay(load(path), None, monkeypatch)
    speech, ear = CLIENTS[spoken]()

    told = b"".join(speech.piece(chunk) for chunk in chunks)
    if heard.error is None:
        told += speech.end(meter.completion(), {})

    assert as_read(ear, told, heard) == heard


@pytest.mark.parametrize("spoken", CLIENTS)
@pytest.mark.parametrize("path", ANSWERED)
async def test_a_client_of_any_dialect_that_does_not_stream_reads_the_same_answer(
    path: Path, spoken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard, _, meter = await replay(load(path), None, monkeypatch)
    speech, ear = CLIENTS[spoken]()

    told = msgspec.json.encode(speech.whole(meter.completion()))

    assert as_read(ear, told, heard) == heard


def as_read(ear: Ear, told: bytes, heard: Meaning) -> Meaning:
    """Return what a client has read, in so far as its dialect can tell.

    None tells which class a token was in. In every dialect but chat a call ends an answer as such, and in Messages so
    does a refusal.
    """
    read = a_meter()
    for chunk in [*ear.feed(told), *ear.end()]:
        read.see(chunk, 0.0)
    used = read.reported
    meant = meaning(read.completion(), used, heard.error)
    if used is None or used.total == Usage(**heard.usage).total:
        meant = msgspec.structs.replace(meant, usage=heard.usage)
    if len(meant.calls) == len(heard.calls):
        meant = msgspec.structs.replace(meant, calls=list(map(call_as_read, meant.calls, heard.calls)))
    if (heard.calls and meant.finish == "tool_calls") or (heard.refusal and meant.finish == "content_filter"):
        meant = msgspec.structs.replace(meant, finish=heard.finish)
    return meant


def call_as_read(call: Call, heard: Call) -> Call:
    """Return a call as it was heard where it says the same: Messages writes its JSON anew, and gives it an id."""
    same = call.name == heard.name and msgspec.json.decode(call.arguments) == msgspec.json.decode(heard.arguments)
    return heard if same and heard.id in {None, call.id} else call


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_provider_is_recorded_in_all_that_can_happen_with_any(name: str) -> None:
    recorded = {path.stem for path in (ROOT / name).glob("*.json")}
    assert ALWAYS - NEVER.get(name, set()) <= recorded


def test_every_kind_of_provider_is_recorded() -> None:
    sections = [load(path).provider.section for path, _ in EXCHANGES.values()]
    kinds_of_policy = {section.model_fields["kind"].annotation for section in get_args(get_args(ProviderSection)[0])}
    assert {section["kind"] for section in sections} == {get_args(kind)[0] for kind in kinds_of_policy}
