"""Faults that others have published about what an answer used; each test is named for what is right.

Who had the fault, under which number, and what it was, is said in its docstring.
"""

import asyncio

import msgspec
import pytest

from tests.support.polyglot import DIALECTS, PATHS, Polyglot
from tests.support.providers.answer import Answer, Prompt
from tests.support.providers.gateways import cost
from tests.support.providers.script import Script

RESPONSES = "/v1/responses"


@pytest.mark.parametrize("model", DIALECTS)
async def test_no_tokens_are_not_the_same_as_no_word_of_them(shop: Polyglot, model: str) -> None:
    """BerriAI/litellm 37992: an explicit zero is taken for missing, and estimated."""
    shop.fake.script = Script(answer=Answer(texts=()), usage="zero")
    zero = (await shop.booked(await shop.ask(model))).request
    shop.fake.script = Script(answer=Answer(texts=()), usage="never")
    unknown = (await shop.booked(await shop.ask(model))).request

    assert (zero.estimated, zero.cost.nanos) == (False, 0)
    assert (unknown.estimated, unknown.cost.nanos > 0) == (True, True)


@pytest.mark.parametrize("model", DIALECTS)
async def test_usage_of_null_is_estimated_and_spends_the_budget_all_the_same(shop: Polyglot, model: str) -> None:
    """higress-group/higress 2187: `usage: null` switches the limit off."""
    shop.fake.script = Script(usage="null")
    for stream in (True, False):
        before = await shop.spent()
        reply = await shop.ask(model, stream=stream)
        row = (await shop.booked(reply)).request

        assert (reply.status_code, row.estimated, row.cost.nanos > 0) == (200, True, True), stream
        assert await shop.spent() == before + row.cost


@pytest.mark.parametrize("model", DIALECTS)
async def test_a_stream_is_charged_once_and_its_client_is_told_what(shop: Polyglot, model: str) -> None:
    """higress-group/higress 1080: what is streamed is charged twice; BerriAI/litellm 13264: nobody says its cost."""
    before = await shop.spent()
    reply = await shop.ask(model, stream=True, stream_options={"include_usage": True})
    last = msgspec.json.decode(reply.text.strip().split("\n\n")[-2].removeprefix("data: "))
    found, truth = await shop.booked(reply), cost(shop.fake.last.tokens)

    assert (found.request.cost, len(found.attempts)) == (truth, 1)
    assert await shop.spent() == before + truth
    assert last["usage"]["cost_usd"] == truth.usd


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("model", DIALECTS)
async def test_a_response_is_paid_for_once_and_never_when_it_is_looked_up(
    shop: Polyglot, model: str, stream: bool
) -> None:
    """BerriAI/litellm 36529, 6633: streamed Responses cost nothing; 15740, 17814: they cost twice, and when fetched."""
    before = await shop.spent()
    reply = await shop.ask(model, RESPONSES, stream=stream)
    told = reply.json() if not stream else msgspec.json.decode(reply.text.strip().rsplit("data: ", 1)[1])["response"]
    await shop.gateway.client.get(f"{RESPONSES}/{told['id']}", headers={"x-api-key": shop.key})
    found, truth = await shop.booked(reply), cost(shop.fake.last.tokens)

    assert (found.request.endpoint, found.request.cost) == ("responses", truth)
    assert await shop.spent() == before + truth


@pytest.mark.parametrize("path", PATHS)
async def test_the_prompt_of_a_stream_of_messages_is_counted_with_its_answer(shop: Polyglot, path: str) -> None:
    """apache/apisix 13662: the input comes with the first event, and only the output of the last is counted."""
    shop.fake.script = Script(answer=Answer(prompt=Prompt(fresh=900, read=80, written=20)))
    row = (await shop.booked(await shop.ask("messages", path, stream=True))).request

    assert (row.input_tokens, row.output_tokens) == (1000, 4)
    assert row.cost == cost(shop.fake.last.tokens)


@pytest.mark.parametrize("model", DIALECTS)
async def test_an_answer_is_paid_for_beside_the_thoughts(shop: Polyglot, model: str) -> None:
    """agentgateway/agentgateway 3228: where thoughts are told, the rest of the output is left out."""
    shop.fake.script = Script(answer=Answer(thoughts=("a", "b", "c"), texts=("d", "e")))
    for stream in (True, False):
        row = (await shop.booked(await shop.ask(model, stream=stream))).request

        assert (row.output_tokens, row.cost.nanos) == (5, 12 * 3000 + 5 * 15000), stream


@pytest.mark.parametrize("model", DIALECTS)
async def test_no_path_leads_around_the_ledger(shop: Polyglot, model: str) -> None:
    """BerriAI/litellm 38111, maximhq/bifrost 2873: some routes record nothing, or skip the key's budget."""
    before, truth = await shop.spent(), 0
    for path in PATHS:
        found = await shop.booked(await shop.ask(model, path))
        truth += cost(shop.fake.last.tokens).nanos
        assert (found.request.cost, found.request.app) == (cost(shop.fake.last.tokens), "bot"), path

    assert (await shop.spent()).nanos - before.nanos == truth


async def test_vectors_are_paid_for_like_words(shop: Polyglot) -> None:
    """envoyproxy/ai-gateway 1754, 1169: the tokens of some routes are not counted."""
    before = await shop.spent()
    asked = {"model": "vectors", "input": ["a", "b"]}
    reply = await shop.gateway.client.post("/v1/embeddings", json=asked, headers={"x-api-key": shop.key})
    row = (await shop.booked(reply)).request

    assert (row.endpoint, row.cost.nanos) == ("embeddings", 12 * 2000)
    assert await shop.spent() == before + row.cost


async def test_as_many_rows_are_written_as_requests_were_made_whatever_became_of_them(shop: Polyglot) -> None:
    """BerriAI/litellm 13280: rows are missing; 27639, 36926, 40050: what was held stays held, up to false refusals."""
    scripts = [Script(), Script(status=500), Script(cut_after=2), Script(usage="never"), Script(body=b"{")] * 5
    shop.fake.scripts.extend(scripts)
    before = await shop.spent()
    models = [DIALECTS[number % len(DIALECTS)] for number in range(len(scripts))]
    replies = await asyncio.gather(*(shop.ask(model, stream=bool(n % 2)) for n, model in enumerate(models)))
    rows = [(await shop.booked(reply)).request for reply in replies]

    assert len({row.request_id for row in rows}) == len(scripts)
    assert {row.kind for row in rows} == {"settled"}
    assert (await shop.spent()).nanos - before.nanos == sum(row.cost.nanos for row in rows)
    assert shop.gateway.services.purse.open_holds == 0


@pytest.mark.parametrize("model", DIALECTS)
async def test_a_call_that_is_refused_gives_all_of_its_hold_back(shop: Polyglot, model: str) -> None:
    """BerriAI/litellm 28283: what is reserved drifts with every error."""
    before = await shop.spent()
    for status in (400, 401, 429, 500, 503):
        shop.fake.script = Script(status=status)
        reply = await shop.ask(model, stream=status > 429)
        found = await shop.booked(reply)
        assert reply.status_code >= 400
        assert (found.request.cost.nanos, len(found.attempts)) == (0, 1), status

    assert await shop.spent() == before
    assert shop.gateway.services.purse.open_holds == 0
