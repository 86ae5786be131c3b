"""Usage is always asked of the provider, shown only to a client that asked, and believed where it can be true."""

from typing import Any

import msgspec
import pytest

from tests.support.providers.answer import Answer, Prompt, ToolCall
from tests.support.providers.gateways import FarGateway, cost
from tests.support.providers.script import Script, Telling

ANSWER = Answer(
    thoughts=("Hm",),
    texts=("Hello", ", world"),
    calls=(ToolCall("call_1", "f", ("{}",)),),
    finish="tool_calls",
    prompt=Prompt(fresh=7, read=5),
)


async def chunks(far: FarGateway, **more: Any) -> list[dict[str, Any]]:
    async with far.streamed(**more) as reply:
        text = (await reply.aread()).decode()
    assert text.endswith("data: [DONE]\n\n")
    events = text.removesuffix("data: [DONE]\n\n").strip().split("\n\n")
    return [msgspec.json.decode(event.removeprefix("data: ")) for event in events]


@pytest.mark.parametrize("options", [{}, {"stream_options": {"include_usage": False}}], ids=["silent", "no"])
async def test_a_client_that_did_not_ask_sees_no_usage_and_pays_the_true_cost(
    far: FarGateway, options: dict[str, Any]
) -> None:
    for count, telling in enumerate(("told", "null", "never"), 1):
        far.fake.script = Script(answer=ANSWER, usage=telling)
        told = await chunks(far, **options)

        assert all(chunk["choices"] for chunk in told), telling  # clients read the first choice of each
        assert not any(chunk.get("usage") for chunk in told), telling
        row = await far.row(count)
        assert row.estimated == (telling != "told")
        assert telling != "told" or row.cost == cost(far.fake.last.tokens)


async def test_a_client_that_asked_sees_it_once_with_its_cost(far: FarGateway) -> None:
    far.fake.script = Script(answer=ANSWER)
    told = await chunks(far, stream_options={"include_usage": True})

    (usage,) = [chunk["usage"] for chunk in told if chunk.get("usage")]
    row = await far.row()
    assert told[-1]["choices"] == []
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (12, 4)
    assert usage["prompt_tokens_details"]["cached_tokens"] == 5
    assert usage["cost_usd"] == row.cost.usd == cost(far.fake.last.tokens).usd


async def test_cached_and_reasoning_tokens_are_counted_once(far: FarGateway) -> None:
    far.fake.script = Script(answer=ANSWER)
    plain = (await far.plain()).json()["usage"]
    row = await far.row()

    assert row.cost == cost(far.fake.last.tokens)
    if far.kind != "converse":  # which tells them as output alone
        assert plain["completion_tokens_details"]["reasoning_tokens"] == 1
    assert plain["total_tokens"] == 16


@pytest.mark.parametrize("telling", ["null", "zero", "never"])
async def test_a_text_for_which_no_tokens_are_told_is_paid_by_a_marked_estimate(
    far: FarGateway, telling: Telling
) -> None:
    far.fake.script = Script(answer=ANSWER, usage=telling)
    reply = await far.plain()
    row = await far.row()

    assert row.estimated
    assert (row.output_tokens or 0) >= far.tally().said([ANSWER.text])
    assert reply.json()["usage"]["completion_tokens"] == row.output_tokens


async def test_no_tokens_for_no_text_is_an_answer_that_cost_nothing(far: FarGateway) -> None:
    far.fake.script = Script(answer=Answer(texts=()), usage="zero")
    await far.plain()
    row = await far.row()

    assert (row.estimated, row.cost.nanos) == (False, 0)


async def test_usage_may_come_with_the_end_of_the_answer(far: FarGateway) -> None:
    far.fake.script = Script(answer=ANSWER, usage="with_finish")
    told = await chunks(far)

    assert not any(chunk.get("usage") for chunk in told)
    row = await far.row()
    assert (row.estimated, row.cost) == (False, cost(far.fake.last.tokens))
