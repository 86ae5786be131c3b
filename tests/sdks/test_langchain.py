"""LangChain's chat model for OpenAI, unmodified but for its base URL."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, SecretStr

from tests.support.polyglot import DIALECTS, Polyglot, polyglot
from tests.support.providers.answer import Answer, ToolCall
from tests.support.providers.script import Script


class Forecast(BaseModel):
    """What the model is to answer with."""

    city: str
    degrees: int


@tool
def weather(city: str) -> str:
    """Tell the weather."""
    return city


@pytest.fixture
async def polyglots(tmp_path: Path) -> AsyncGenerator[Polyglot]:
    async with polyglot(tmp_path) as running:
        yield running


def model(polyglots: Polyglot, name: str, *, responses: bool = False) -> ChatOpenAI:
    return ChatOpenAI(
        model=name,
        base_url=polyglots.gateway.base_url,
        api_key=SecretStr(polyglots.key),
        use_responses_api=responses,
        stream_usage=True,
    )


@pytest.mark.parametrize("responses", [True, False])
@pytest.mark.parametrize("name", DIALECTS)
async def test_it_answers_and_streams_with_usage(polyglots: Polyglot, name: str, responses: bool) -> None:
    chat = model(polyglots, name, responses=responses)
    answer = await chat.ainvoke("Hi")
    pieces = [piece async for piece in chat.astream("Hi")]
    rows = await polyglots.gateway.rows(2)

    assert answer.text == "Hello, world!"
    assert answer.usage_metadata is not None
    assert (answer.usage_metadata["input_tokens"], answer.usage_metadata["output_tokens"]) == (12, 4)
    assert "".join(piece.text for piece in pieces) == "Hello, world!"
    assert [row.output_tokens for row in rows] == [4, 4]


@pytest.mark.parametrize("name", DIALECTS)
async def test_its_tools_are_called(polyglots: Polyglot, name: str) -> None:
    call = ToolCall("call_1", "weather", ('{"city":', ' "Zürich"}'))
    polyglots.fake.script = Script(answer=Answer(texts=(), calls=(call,), finish="tool_calls"))

    answer = await model(polyglots, name).bind_tools([weather]).ainvoke("Weather?")

    assert [(one["name"], one["args"]) for one in answer.tool_calls] == [("weather", {"city": "Zürich"})]


@pytest.mark.parametrize("name", DIALECTS)
async def test_its_structured_output_is_parsed(polyglots: Polyglot, name: str) -> None:
    polyglots.fake.script = Script(answer=Answer(texts=('{"city": "Zürich",', ' "degrees": 12}')))

    answer = await model(polyglots, name).with_structured_output(Forecast).ainvoke("Weather?")

    assert answer == Forecast(city="Zürich", degrees=12)
