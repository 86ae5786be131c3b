"""One answer, told by a provider of every dialect, is the same answer to us, and costs the same."""

from contextlib import AsyncExitStack
from typing import Any

import pytest
from msgspec.structs import replace
from pydantic import TypeAdapter

from gateway.errors import UpstreamError
from gateway.policy.models import Provider
from gateway.policy.reliability import Timeouts
from gateway.providers.kinds import open_upstream
from gateway.providers.upstream import Call as ProviderCall
from governance.confinement.confined import UNCONFINED
from tests.support.exchanges import BOUND, Call, Meaning, a_meter, meaning
from tests.support.polyglot import DIALECTS, providers
from tests.support.providers.answer import Answer, Prompt, ToolCall
from tests.support.providers.fake import FakeProvider
from tests.support.providers.script import Script
from tests.support.scripted_upstream import serve

SECTION: TypeAdapter[Any] = TypeAdapter(Provider)
WEATHER = {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
BODY = {"messages": [{"role": "user", "content": "Weather?"}], "tools": [{"type": "function", "function": WEATHER}]}
COLOGNE = ToolCall("call_1", "weather", ('{"city":', '"Köln"}'))
OSLO = ToolCall("call_2", "weather", ('{"city":', '"Oslo"}'))

ANSWERS = {
    "text": (Answer(texts=("Grüße", " ", "🌍")), Meaning(text="Grüße 🌍", finish="stop")),
    "cut short": (Answer(texts=("Once",), finish="length"), Meaning(text="Once", finish="length")),
    "cached": (Answer(prompt=Prompt(fresh=7, read=100)), Meaning(text="Hello, world!", finish="stop")),
    "thoughts": (
        Answer(thoughts=("Let", " me"), texts=("4",)),
        Meaning(text="4", reasoning="Let me", finish="stop"),
    ),
    "calls": (
        Answer(texts=("Both.",), calls=(COLOGNE, OSLO), finish="tool_calls"),
        Meaning(
            text="Both.",
            calls=[Call("weather", '{"city":"Köln"}', "call_1"), Call("weather", '{"city":"Oslo"}', "call_2")],
            finish="tool_calls",
        ),
    ),
}
NEVER_TOLD = {"converse"}
"""Who counts thoughts as output without saying how many they were."""


async def read(fake: FakeProvider, dialect: str) -> tuple[Meaning, str]:
    """Ask a provider of a dialect, and return what it means and how it failed."""
    meter, failure = a_meter(), ""
    async with serve(fake.app()) as port, AsyncExitStack() as stack:
        section = SECTION.validate_python(providers(port)[dialect])
        upstream = await open_upstream("seller", section, None, Timeouts(), "", stack)
        wanted = upstream.write(
            ProviderCall(body={"model": "m", **BODY}, confined=UNCONFINED, max_tokens=BOUND, tenant="red/bot")
        )
        try:
            async with upstream.stream(wanted, "req-1") as chunks:
                async for chunk in chunks:
                    meter.see(chunk, 0.0)
            meter.check_complete("seller")
        except UpstreamError as error:
            failure = type(error).__name__
    return meaning(meter.completion(), meter.reported, None), failure


@pytest.mark.parametrize("every", [None, 1])
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", ANSWERS)
async def test_it_says_and_costs_the_same_in_every_dialect(name: str, dialect: str, every: int | None) -> None:
    answer, meant = ANSWERS[name]
    fake = FakeProvider(Script(answer=answer, every=every))

    heard, failure = await read(fake, dialect)

    used = fake.last.tokens
    reasoning = 0 if dialect in NEVER_TOLD else used.reasoning
    classes = {
        "fresh_input": used.prompt.fresh,
        "cache_read": used.prompt.read,
        "output": used.output - reasoning,
        "reasoning": reasoning,
    }
    assert heard == replace(meant, usage={name: count for name, count in classes.items() if count})
    assert failure == ""


@pytest.mark.parametrize(
    "script", [Script(fail_after=2), Script(cut_after=2), Script(stop_after=2)], ids=["fails", "is cut", "stops"]
)
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_answer_that_does_not_come_to_its_end_is_an_error_in_every_dialect(
    dialect: str, script: Script
) -> None:
    heard, failure = await read(FakeProvider(script), dialect)

    assert (heard.text, failure) == ("Hello,", "UpstreamError")
