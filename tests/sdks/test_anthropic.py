"""Anthropic's own client, unmodified but for its base URL, whatever the provider behind it speaks."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anthropic
import pytest
from anthropic import AsyncAnthropic

from tests.support.polyglot import DIALECTS, Polyglot, polyglot
from tests.support.providers.answer import Answer, Prompt, ToolCall
from tests.support.providers.script import Script

ASKED: list[Any] = [{"role": "user", "content": "What is the weather in Zürich?"}]
WEATHER: list[Any] = [
    {
        "name": "weather",
        "description": "d",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
    }
]
CALLS = Answer(
    texts=("Let me look. ",),
    calls=(ToolCall("toolu_1", "weather", ('{"city":', ' "Zürich"}')), ToolCall("toolu_2", "weather", ("{}",))),
    finish="tool_calls",
)


@pytest.fixture
async def polyglots(tmp_path: Path) -> AsyncGenerator[Polyglot]:
    async with polyglot(tmp_path) as running:
        yield running


@pytest.fixture
async def sdk(polyglots: Polyglot) -> AsyncGenerator[AsyncAnthropic]:
    async with polyglots.anthropic() as client:
        yield client


@pytest.mark.parametrize("model", DIALECTS)
async def test_it_gets_a_message_with_usage_and_pays_what_the_provider_counted(
    polyglots: Polyglot, sdk: AsyncAnthropic, model: str
) -> None:
    polyglots.fake.script = Script(answer=Answer(prompt=Prompt(fresh=7, read=5)))

    message = await sdk.messages.create(model=model, max_tokens=50, system="Be brief.", messages=ASKED)

    assert [block.text for block in message.content if block.type == "text"] == ["Hello, world!"]
    assert (message.stop_reason, message.usage.input_tokens, message.usage.output_tokens) == ("end_turn", 7, 4)
    assert message.usage.cache_read_input_tokens == 5
    (row,) = await polyglots.gateway.rows(1)
    # 7 at 3 USD, 5 at 0.3 USD, 4 at 15 USD, each per million.
    assert (row.cost.usd, row.endpoint) == ("0.0000825", "messages")


@pytest.mark.parametrize("model", DIALECTS)
async def test_it_streams_a_message_whose_last_usage_holds_the_cost(
    polyglots: Polyglot, sdk: AsyncAnthropic, model: str
) -> None:
    async with sdk.messages.stream(model=model, max_tokens=50, messages=ASKED) as stream:
        texts = [text async for text in stream.text_stream]
        message = await stream.get_final_message()
    (row,) = await polyglots.gateway.rows(1)

    assert texts == ["Hello", ",", " world", "!"]
    assert (message.usage.output_tokens, message.stop_reason) == (4, "end_turn")
    last = await last_event(sdk, model)
    assert last["usage"]["cost_usd"] == row.cost.usd


async def last_event(sdk: AsyncAnthropic, model: str) -> dict[str, Any]:
    events = [
        event.model_dump()
        async for event in await sdk.messages.create(model=model, max_tokens=50, messages=ASKED, stream=True)
    ]
    assert [event["type"] for event in events][-2:] == ["message_delta", "message_stop"]
    return events[-2]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("model", DIALECTS)
async def test_parallel_calls_of_tools_arrive_whole_and_their_results_go_back(
    polyglots: Polyglot, sdk: AsyncAnthropic, model: str, stream: bool
) -> None:
    polyglots.fake.script = Script(answer=CALLS)
    asked: dict[str, Any] = {"model": model, "max_tokens": 50, "tools": WEATHER}
    if stream:
        async with sdk.messages.stream(**asked, messages=ASKED) as streamed:
            message = await streamed.get_final_message()
    else:
        message = await sdk.messages.create(**asked, messages=ASKED)
    calls = [block for block in message.content if block.type == "tool_use"]

    assert [(call.id, call.name, call.input) for call in calls] == [
        ("toolu_1", "weather", {"city": "Zürich"}), ("toolu_2", "weather", {}),
    ]  # fmt: skip
    assert message.stop_reason == "tool_use"

    results = [{"type": "tool_result", "tool_use_id": call.id, "content": "12 °C"} for call in calls]
    said = [
        block.model_dump(exclude_none=True, include={"type", "id", "name", "input", "text"})
        for block in message.content
    ]
    history: list[Any] = [*ASKED, {"role": "assistant", "content": said}, {"role": "user", "content": results}]
    polyglots.fake.script = Script()
    again = await sdk.messages.create(**asked, messages=history)

    assert again.stop_reason == "end_turn"
    assert str(polyglots.fake.last.body).count("12 °C") == 2


async def test_what_only_a_provider_of_its_dialect_knows_reaches_it_as_it_was_sent(
    polyglots: Polyglot, sdk: AsyncAnthropic
) -> None:
    marked = {"type": "text", "text": "A long text", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    await sdk.messages.create(
        model="messages",
        max_tokens=50,
        system=[marked],  # type: ignore[list-item]
        messages=[{"role": "user", "content": [marked]}],  # type: ignore[typeddict-item]
        thinking={"type": "enabled", "budget_tokens": 1024},
        extra_headers={"anthropic-beta": "tomorrow-2027-01-01"},
        extra_body={"a_field_of_tomorrow": {"x": 1}},
    )
    body = polyglots.fake.last.body

    assert polyglots.fake.last.headers["anthropic-beta"] == "tomorrow-2027-01-01"
    assert "anthropic_beta" not in body

    assert body["system"] == [marked]
    assert body["messages"] == [{"role": "user", "content": [marked]}]
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 1024}
    assert body["a_field_of_tomorrow"] == {"x": 1}


async def test_thinking_of_its_own_dialect_comes_with_its_signature(polyglots: Polyglot, sdk: AsyncAnthropic) -> None:
    polyglots.fake.script = Script(answer=Answer(thoughts=("Let", " me", " see")))

    async with sdk.messages.stream(model="messages", max_tokens=50, messages=ASKED) as stream:
        message = await stream.get_final_message()
    thought = message.content[0]

    assert thought.type == "thinking"
    assert (thought.thinking, bool(thought.signature)) == ("Let me see", True)


async def test_its_errors_are_its_own_and_name_the_request(polyglots: Polyglot, sdk: AsyncAnthropic) -> None:
    with pytest.raises(anthropic.NotFoundError) as unknown:
        await sdk.messages.create(model="nobody", max_tokens=50, messages=ASKED)

    assert unknown.value.request_id is not None
    body: Any = unknown.value.body
    assert (body["type"], body["error"]["type"]) == ("error", "not_found_error")
    async with AsyncAnthropic(base_url=str(sdk.base_url), api_key="sk-sluice-x-y") as stranger:
        with pytest.raises(anthropic.AuthenticationError):
            await stranger.messages.create(model="chat", max_tokens=50, messages=ASKED)


async def test_it_tries_again_what_a_busy_provider_refuses(polyglots: Polyglot, sdk: AsyncAnthropic) -> None:
    polyglots.fake.scripts.append(Script(status=529, error=("overloaded_error", "Busy."), headers={"retry-after": "1"}))

    message = await sdk.messages.create(model="messages", max_tokens=50, messages=ASKED)

    assert message.stop_reason == "end_turn"
    assert len(polyglots.fake.served) == 2


@pytest.mark.parametrize("model", DIALECTS)
async def test_a_stream_that_breaks_is_an_error_and_never_an_end(
    polyglots: Polyglot, sdk: AsyncAnthropic, model: str
) -> None:
    polyglots.fake.script = Script(cut_after=2)

    with pytest.raises(anthropic.APIStatusError):
        async with sdk.messages.stream(model=model, max_tokens=50, messages=ASKED) as stream:
            await stream.get_final_message()


async def test_a_budget_that_is_used_up_is_said_once_and_not_tried_again(tmp_path: Path) -> None:
    teams = [{"name": "blue", "apps": [{"name": "bot"}], "budgets": [{"limit": 0.000001, "window": "day"}]}]
    async with polyglot(tmp_path, teams=teams) as poor, poor.anthropic() as sdk:
        with pytest.raises(anthropic.APIStatusError) as used_up:
            await sdk.messages.create(model="messages", max_tokens=50, messages=ASKED)
        rows = await poor.gateway.rows(1)

    body: Any = used_up.value.body
    assert (used_up.value.status_code, body["error"]["details"]["error_code"]) == (429, "insufficient_quota")
    assert [row.kind for row in rows] == ["refused"]


@pytest.mark.parametrize("model", DIALECTS)
async def test_it_is_told_how_long_a_prompt_is_for_free_and_the_call_is_on_record(
    polyglots: Polyglot, sdk: AsyncAnthropic, model: str
) -> None:
    polyglots.fake.script = Script(answer=Answer(prompt=Prompt(fresh=77)))

    counted = await sdk.messages.count_tokens(model=model, system="Be brief.", messages=ASKED)
    (row,) = await polyglots.gateway.rows(1)

    lends = model in {"messages", "gemini"}  # the others have no tokenizer to ask, so that is an estimate
    assert counted.input_tokens == 77 if lends else 5 < counted.input_tokens < 40
    assert (row.endpoint, row.cost.usd, row.attempts) == ("count", "0.00", len(polyglots.fake.served))
