"""Faults that others have published about clients that leave and usage that is told oddly, named for what is right.

The report of each is in its docstring, as the project that had it numbers it.
"""

import asyncio
from pathlib import Path

import msgspec
import pytest

from gateway.providers.leaving import CANCEL
from tests.support.providers.answer import Answer, Prompt
from tests.support.providers.gateways import KINDS, FarGateway, cost, far_gateway
from tests.support.providers.script import Script


async def left(far: FarGateway, *, stream: bool) -> None:
    """Ask, and leave after the second piece."""
    far.fake.script = Script(gate=asyncio.Semaphore(1))
    pending = asyncio.create_task(far.plain(stream=stream))
    await far.fake.until_made(2)
    pending.cancel()
    await asyncio.gather(pending, return_exceptions=True)
    await far.leavings.acquire()


async def test_a_client_that_leaves_in_mid_stream_leaves_one_row_with_its_cost_and_no_hold(tmp_path: Path) -> None:
    """BerriAI/litellm 14457, 36008, 37558, 37734, 39893: no spend row, or the reservation stays."""
    async with far_gateway(tmp_path, "vllm") as far:
        await left(far, stream=True)
        row = await far.row()

        assert (row.kind, row.outcome, row.cost) == ("settled", "left", cost(far.fake.last.tokens))
        assert far.gateway.services.purse.open_holds == 0


async def test_a_client_that_leaves_before_a_plain_answer_is_treated_no_better(tmp_path: Path) -> None:
    """BerriAI/litellm 13245: the same for calls that do not stream."""
    async with far_gateway(tmp_path, "vllm") as far:
        await left(far, stream=False)
        row = await far.row()

        assert (row.kind, row.outcome, row.cost) == ("settled", "left", cost(far.fake.last.tokens))
        assert far.gateway.services.purse.open_holds == 0


@pytest.mark.parametrize("kind", KINDS)
async def test_a_call_that_nobody_waits_for_is_stopped_where_the_rule_says_so(tmp_path: Path, kind: str) -> None:
    """BerriAI/litellm 17364: the provider goes on, and is paid for nobody."""
    async with far_gateway(tmp_path, kind, on_leave="cancel") as far:
        assert far.upstream.leave == CANCEL
        await left(far, stream=True)

        assert (await far.fake.until_ended()).ended == "left"


async def test_no_tokens_are_not_the_same_as_no_word_of_them(tmp_path: Path) -> None:
    """BerriAI/litellm 37992: an explicit zero is taken for missing, and estimated."""
    async with far_gateway(tmp_path, "chat") as far:
        far.fake.script = Script(answer=Answer(texts=()), usage="zero")
        await far.plain()
        zero = await far.row()
        far.fake.script = Script(answer=Answer(texts=()), usage="never")
        await far.plain()
        unknown = await far.row(2)

        assert (zero.estimated, zero.cost.nanos) == (False, 0)
        assert unknown.estimated
        assert unknown.cost.nanos > 0


async def test_a_client_of_a_stream_is_told_what_it_cost(far: FarGateway) -> None:
    """BerriAI/litellm 13264: a stream says nothing of its cost."""
    text = (await far.plain(stream=True, stream_options={"include_usage": True})).text
    last = msgspec.json.decode(text.strip().split("\n\n")[-2].removeprefix("data: "))

    assert last["usage"]["cost_usd"] == cost(far.fake.last.tokens).usd


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stream", [True, False])
async def test_a_response_is_counted_and_charged_once(tmp_path: Path, kind: str, stream: bool) -> None:
    """BerriAI/litellm 36529, 6633: streamed Responses are rows of zero; 15740, 17814: they are charged twice."""
    async with far_gateway(tmp_path, kind) as far:
        body = {"model": "far", "input": "Hi", "store": False, "stream": stream}
        reply = await far.gateway.client.post("/v1/responses", json=body, headers={"x-api-key": far.key})
        row = await far.row()

        assert reply.status_code == 200
        assert (row.endpoint, row.attempts, row.cost) == ("responses", 1, cost(far.fake.last.tokens))
        assert len(await far.gateway.rows()) == len(far.fake.served) == 1


async def test_the_total_of_a_stream_of_messages_holds_its_prompt(tmp_path: Path) -> None:
    """apache/apisix 13662: the input comes with the first event, and only the output of the last is counted."""
    async with far_gateway(tmp_path, "messages") as far:
        far.fake.script = Script(answer=Answer(prompt=Prompt(fresh=900, read=80, written=20)))
        await far.plain(stream=True)
        row = await far.row()

        assert (row.input_tokens, row.output_tokens) == (1000, 4)
        assert row.cost == cost(far.fake.last.tokens)


async def test_usage_of_null_is_estimated_and_still_spends_the_budget(far: FarGateway) -> None:
    """higress-group/higress 2187: `usage: null` switches the limit off."""
    far.fake.script = Script(usage="null")
    reply = await far.plain()
    row = await far.row()

    assert reply.status_code == 200
    assert row.estimated
    assert row.cost.nanos > 0


async def test_a_stream_is_charged_once(tmp_path: Path) -> None:
    """higress-group/higress 1080: what is streamed is charged twice."""
    async with far_gateway(tmp_path, "vllm") as far:
        await far.plain(stream=True, stream_options={"include_usage": True})
        row = await far.row()

        assert row.cost == cost(far.fake.last.tokens)
        assert len(await far.gateway.rows()) == 1


async def test_as_many_rows_are_written_as_requests_were_made_whatever_became_of_them(tmp_path: Path) -> None:
    """BerriAI/litellm 13280: rows are missing."""
    async with far_gateway(tmp_path, "chat") as far:
        scripts = [Script(), Script(status=500), Script(cut_after=2), Script(usage="never"), Script(body=b"{")] * 4
        far.fake.scripts.extend(scripts)
        await asyncio.gather(*(far.plain(stream=bool(number % 2)) for number in range(len(scripts))))
        rows = await far.gateway.rows(len(scripts))

        assert len(rows) == len({row.request_id for row in rows}) == len(scripts)
        assert sum(row.attempts for row in rows) == len(far.fake.served)
        assert far.gateway.services.purse.open_holds == 0
