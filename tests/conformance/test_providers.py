"""One suite over every provider: what it is sent, and what its replies mean, in whatever pieces they come."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, get_args

import httpx
import msgspec
import pytest
from pydantic import TypeAdapter

from gateway.errors import UpstreamError, UpstreamOverloaded
from gateway.policy.models import Provider as ProviderSection
from gateway.providers import kinds
from gateway.providers.upstream import Call as ProviderCall
from gateway.providers.upstream import Chunk, Upstream, Wanted
from gateway.speech.chat import ChatSpeech
from gateway.steps.metering import Meter
from gateway.wire.errors import error_body, shape_of
from gateway.wire.fold import Fold
from gateway.wire.sse import EventSplitter
from governance.prices import Usage
from tests.support.exchanges import ROOT, Call, Failure, Meaning, Playback, Recorded, cases, load

BOUND = 64
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

PROVIDERS = sorted(path.name for path in ROOT.iterdir())
CASES = [pytest.param(path, id=name) for name, path in cases()]
SECTION: TypeAdapter[Any] = TypeAdapter(ProviderSection)


@asynccontextmanager
async def opened(recorded: Recorded, playback: Playback, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Upstream]:
    def client(address: str) -> httpx.AsyncClient:
        base = address if address.startswith("http") else "http://engine/v1"
        return httpx.AsyncClient(base_url=base.rstrip("/") + "/", transport=playback)

    monkeypatch.setattr(kinds, "open_client", client)
    section = SECTION.validate_python(recorded.provider.section)
    async with AsyncExitStack() as stack:
        yield await kinds.open_upstream("seller", section, None, "unix:/engine.sock", stack)


def write(upstream: Upstream, recorded: Recorded) -> Wanted:
    return upstream.write(ProviderCall(body=recorded.asked, max_tokens=BOUND, tenant="red/bot"))


async def replay(
    recorded: Recorded, size: int | None, monkeypatch: pytest.MonkeyPatch
) -> tuple[Meaning, list[Chunk], Meter]:
    """Hear a reply in pieces of `size` bytes."""
    meter, chunks, failure = Meter(1000, BOUND), list[Chunk](), None
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


def meaning(completion: dict[str, Any], usage: Usage | None, failure: Failure | None) -> Meaning:
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


@pytest.mark.parametrize("path", CASES)
async def test_a_request_goes_upstream_as_its_provider_takes_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = load(path)
    playback = Playback(recorded, None)

    async with opened(recorded, playback, monkeypatch) as upstream:
        try:
            async with upstream.stream(write(upstream, recorded), "req-1"):
                pass
        except UpstreamError:
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


@pytest.mark.parametrize("path", CASES)
async def test_a_client_that_streams_reads_the_same_answer(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = load(path)
    heard, chunks, meter = await replay(recorded, None, monkeypatch)
    speech, splitter, fold = ChatSpeech(usage=False), EventSplitter(), Fold()

    for chunk in chunks:
        for payload in splitter.feed(speech.piece(chunk)):
            fold.add(msgspec.json.decode(payload))

    assert meaning(fold.completion(), meter.reported, heard.error) == heard


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_provider_is_recorded_in_all_that_can_happen_with_any(name: str) -> None:
    recorded = {path.stem for path in (ROOT / name).glob("*.json")}
    assert ALWAYS - NEVER.get(name, set()) <= recorded


def test_every_kind_of_provider_is_recorded() -> None:
    sections = [load(path).provider.section for _, path in cases()]
    kinds_of_policy = {section.model_fields["kind"].annotation for section in get_args(get_args(ProviderSection)[0])}
    assert {section["kind"] for section in sections} == {get_args(kind)[0] for kind in kinds_of_policy}
