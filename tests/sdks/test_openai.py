"""OpenAI's own client, unmodified but for its base URL, whatever the provider behind it speaks."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel

from tests.support.polyglot import DIALECTS, Polyglot, polyglot
from tests.support.providers.answer import Answer, Prompt, ToolCall
from tests.support.providers.script import Script

ASKED: list[Any] = [{"role": "user", "content": "What is the weather in Zürich?"}]
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER: list[Any] = [{"type": "function", "function": {"name": "weather", "parameters": PARAMETERS}}]
FLAT: list[Any] = [{"type": "function", "name": "weather", "parameters": PARAMETERS, "strict": False}]
CALLS = Answer(
    calls=(ToolCall("call_1", "weather", ('{"city":', '"Zürich"}')), ToolCall("call_2", "weather", ("{}",))),
    texts=(),
    finish="tool_calls",
)


class Forecast(BaseModel):
    """What the model is to answer with."""

    city: str
    degrees: int


@pytest.fixture
async def polyglots(tmp_path: Path) -> AsyncGenerator[Polyglot]:
    async with polyglot(tmp_path) as running:
        yield running


@pytest.fixture
async def sdk(polyglots: Polyglot) -> AsyncGenerator[AsyncOpenAI]:
    async with polyglots.openai() as client:
        yield client


@pytest.mark.parametrize("model", DIALECTS)
async def test_it_gets_a_completion_and_pays_what_the_provider_counted(
    polyglots: Polyglot, sdk: AsyncOpenAI, model: str
) -> None:
    polyglots.fake.script = Script(answer=Answer(prompt=Prompt(fresh=7, read=5)))

    completion = await sdk.chat.completions.create(model=model, messages=ASKED)
    (row,) = await polyglots.gateway.rows(1)

    assert (completion.choices[0].message.content, completion.choices[0].finish_reason) == ("Hello, world!", "stop")
    assert completion.usage is not None
    assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (12, 4)
    # 7 at 3 USD, 5 at 0.3 USD, 4 at 15 USD, each per million.
    assert (row.cost.usd, row.endpoint) == ("0.0000825", "chat")


@pytest.mark.parametrize("model", DIALECTS)
async def test_it_streams_and_the_last_usage_holds_the_cost(polyglots: Polyglot, sdk: AsyncOpenAI, model: str) -> None:
    stream = await sdk.chat.completions.create(
        model=model, messages=ASKED, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    (row,) = await polyglots.gateway.rows(1)

    texts = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices and chunk.choices[0].delta.content]
    assert texts == ["Hello", ",", " world", "!"]
    assert all(chunk.usage is None for chunk in chunks[:-1])
    assert chunks[-1].usage is not None
    assert (chunks[-1].usage.model_extra or {})["cost_usd"] == row.cost.usd


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("model", DIALECTS)
async def test_parallel_calls_of_tools_arrive_whole_and_their_results_go_back(
    polyglots: Polyglot, sdk: AsyncOpenAI, model: str, stream: bool
) -> None:
    polyglots.fake.script = Script(answer=CALLS)
    asked: dict[str, Any] = {"model": model, "messages": ASKED, "tools": WEATHER, "parallel_tool_calls": True}
    if stream:
        async with sdk.chat.completions.stream(**asked) as streamed:
            completion: Any = await streamed.get_final_completion()
    else:
        completion = await sdk.chat.completions.create(**asked)
    message = completion.choices[0].message

    assert completion.choices[0].finish_reason == "tool_calls"
    assert [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls] == [
        ("call_1", "weather", '{"city":"Zürich"}'), ("call_2", "weather", "{}"),
    ]  # fmt: skip

    said = message.model_dump(exclude_none=True, exclude={"parsed"})
    results = [{"role": "tool", "tool_call_id": call.id, "content": "12 °C"} for call in message.tool_calls]
    polyglots.fake.script = Script()
    history: dict[str, Any] = asked | {"messages": [*ASKED, said, *results]}
    again = await sdk.chat.completions.create(**history)

    assert again.choices[0].finish_reason == "stop"
    assert str(polyglots.fake.last.body).count("12 °C") == 2


@pytest.mark.parametrize("model", DIALECTS)
async def test_an_answer_by_a_schema_is_parsed_and_the_schema_reaches_the_provider(
    polyglots: Polyglot, sdk: AsyncOpenAI, model: str
) -> None:
    polyglots.fake.script = Script(answer=Answer(texts=('{"city": "Zürich",', ' "degrees": 12}')))

    completion = await sdk.chat.completions.parse(model=model, messages=ASKED, response_format=Forecast)

    assert completion.choices[0].message.parsed == Forecast(city="Zürich", degrees=12)
    assert "degrees" in str(polyglots.fake.last.body)


@pytest.mark.parametrize("model", DIALECTS)
async def test_responses_answer_in_one_piece_and_in_events(polyglots: Polyglot, sdk: AsyncOpenAI, model: str) -> None:
    response = await sdk.responses.create(model=model, input="Hi", instructions="Be brief.", store=False)
    async with sdk.responses.stream(model=model, input="Hi") as stream:
        deltas = [event.delta async for event in stream if event.type == "response.output_text.delta"]
        streamed = await stream.get_final_response()
    rows = await polyglots.gateway.rows(2)

    assert (response.output_text, response.status) == ("Hello, world!", "completed")
    assert (deltas, streamed.output_text) == (["Hello", ",", " world", "!"], "Hello, world!")
    assert streamed.usage is not None
    assert (streamed.usage.input_tokens, streamed.usage.output_tokens) == (12, 4)
    assert (streamed.usage.model_extra or {})["cost_usd"] == rows[0].cost.usd
    assert {row.endpoint for row in rows} == {"responses"}


@pytest.mark.parametrize("model", DIALECTS)
async def test_a_response_calls_tools_and_goes_on_without_any_store(
    polyglots: Polyglot, sdk: AsyncOpenAI, model: str
) -> None:
    polyglots.fake.script = Script(answer=CALLS)
    first = await sdk.responses.create(model=model, input="Weather?", tools=FLAT, store=False)
    calls = [item for item in first.output if item.type == "function_call"]

    assert [(call.call_id, call.name, call.arguments) for call in calls] == [
        ("call_1", "weather", '{"city":"Zürich"}'), ("call_2", "weather", "{}"),
    ]  # fmt: skip

    polyglots.fake.script = Script()
    results = [{"type": "function_call_output", "call_id": call.call_id, "output": "12 °C"} for call in calls]
    history: Any = [
        {"role": "user", "content": "Weather?"},
        *(c.model_dump(exclude_none=True) for c in calls),
        *results,
    ]
    again = await sdk.responses.create(model=model, input=history, tools=FLAT, store=False)

    assert again.output_text == "Hello, world!"
    assert str(polyglots.fake.last.body).count("12 °C") == 2


@pytest.mark.parametrize("model", DIALECTS)
async def test_old_completions_still_work(polyglots: Polyglot, sdk: AsyncOpenAI, model: str) -> None:
    whole = await sdk.completions.create(model=model, prompt="Once", max_tokens=20)
    stream = await sdk.completions.create(model=model, prompt="Once", max_tokens=20, stream=True)
    pieces = [chunk.choices[0].text async for chunk in stream if chunk.choices]

    assert whole.choices[0].text == "Hello, world!"
    assert "".join(pieces) == "Hello, world!"


async def test_embeddings_and_the_list_of_models_are_as_it_expects(polyglots: Polyglot, sdk: AsyncOpenAI) -> None:
    embedded = await sdk.embeddings.create(model="minilm", input="a")
    models = [model.id async for model in await sdk.models.list()]

    assert embedded.data[0].embedding == [0.6, 0.8]
    assert set(DIALECTS) <= set(models)


async def test_a_provider_without_embeddings_says_so_before_anything_is_paid(tmp_path: Path) -> None:
    model = {"name": "vectors", "provider": "messages", "model": "v", "tier": "cloud", "kind": "embedding",
             "price": {"input": 1}}  # fmt: skip
    async with polyglot(tmp_path, models=[model], routes=[]) as running, running.openai() as sdk:
        with pytest.raises(openai.BadRequestError, match="no embeddings"):
            await sdk.embeddings.create(model="vectors", input="a")
        rows = await running.gateway.rows()

    assert (rows, running.fake.served) == ((), [])


async def test_what_a_provider_has_no_word_for_is_refused_before_anything_is_paid(
    polyglots: Polyglot, sdk: AsyncOpenAI
) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        await sdk.chat.completions.create(model="messages", messages=ASKED, seed=7)

    assert refused.value.param == "seed"
    assert polyglots.fake.served == []


async def test_it_tries_again_what_a_busy_provider_refuses(polyglots: Polyglot, sdk: AsyncOpenAI) -> None:
    polyglots.fake.scripts.append(Script(status=429, headers={"retry-after": "1"}))

    completion = await sdk.chat.completions.create(model="chat", messages=ASKED)

    assert completion.choices[0].message.content == "Hello, world!"
    assert len(polyglots.fake.served) == 2


@pytest.mark.parametrize("model", DIALECTS)
async def test_what_the_provider_says_is_wrong_with_a_request_is_said_once(
    polyglots: Polyglot, sdk: AsyncOpenAI, model: str
) -> None:
    polyglots.fake.script = Script(status=400, error=("invalid_request_error", "The tool has no name."))

    with pytest.raises(openai.BadRequestError, match="The tool has no name"):
        await sdk.chat.completions.create(model=model, messages=ASKED)

    assert len(polyglots.fake.served) == 1


@pytest.mark.parametrize("model", DIALECTS)
async def test_a_stream_that_breaks_is_an_error_and_never_an_end(
    polyglots: Polyglot, sdk: AsyncOpenAI, model: str
) -> None:
    polyglots.fake.script = Script(cut_after=2)

    with pytest.raises(openai.APIError):
        async for _ in await sdk.chat.completions.create(model=model, messages=ASKED, stream=True):
            pass
    with pytest.raises((openai.APIError, RuntimeError)):
        async with sdk.responses.stream(model=model, input="Hi") as stream:
            await stream.get_final_response()


@pytest.mark.parametrize(
    ("model", "heard"), [("chat", True), ("gemini", True), ("responses", True), ("messages", False)]
)
async def test_sound_reaches_a_provider_that_hears_and_is_refused_for_one_that_does_not(
    polyglots: Polyglot, sdk: AsyncOpenAI, model: str, heard: bool
) -> None:
    sound = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
    asked: Any = [{"role": "user", "content": [{"type": "text", "text": "What is said?"}, sound]}]

    if heard:
        completion = await sdk.chat.completions.create(model=model, messages=asked)
        assert completion.choices[0].message.content == "Hello, world!"
        assert "UklGRg==" in str(polyglots.fake.last.body)
    else:
        with pytest.raises(openai.BadRequestError):
            await sdk.chat.completions.create(model=model, messages=asked)
        assert polyglots.fake.served == []
