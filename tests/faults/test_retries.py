"""Faults that others have published about calls that are made again; each test is named for what is right."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Final

import pytest

from tests.support.polyglot import DIALECTS, Polyglot, polyglot, sold
from tests.support.providers.gateways import UNAIDED, cost
from tests.support.providers.script import Script

ROUTES: Final = [{"name": "chain", "weak": "chat", "strong": "messages", "fallbacks": ["gemini", "converse"]}]
PATIENT: Final = UNAIDED | {"retries": 2, "attempts": 4}
SOON: Final = {"retry-after-ms": "1"}


@pytest.fixture(scope="module")
async def trying(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Polyglot]:
    async with polyglot(tmp_path_factory.mktemp("tried"), routes=ROUTES, reliability=PATIENT) as running:
        yield running


@pytest.fixture
async def shop(trying: Polyglot) -> AsyncGenerator[Polyglot]:
    async with trying.audited():
        yield trying


@pytest.mark.parametrize("stream", [True, False])
async def test_a_chain_in_which_everything_fails_comes_to_an_end(shop: Polyglot, stream: bool) -> None:
    """BerriAI/litellm 7091, 19985: fallbacks call each other in circles."""
    shop.fake.script = Script(status=503, headers=SOON)
    reply = await shop.ask("chain", stream=stream)
    found = await shop.booked(reply)

    assert (reply.status_code, found.request.cost.nanos) == (503, 0)
    assert len(found.attempts) == len(shop.fake.served) == 4


@pytest.mark.parametrize("status", [400, 404, 422])
@pytest.mark.parametrize("model", ["chain", "chat", "messages"])
async def test_a_request_that_is_wrong_is_sent_to_nobody_again(shop: Polyglot, model: str, status: int) -> None:
    """BerriAI/litellm 23546, 6498, 25843: errors are retried that will come again, also by the fallbacks."""
    shop.fake.script = Script(status=status, error=("bad", "No such thing."), headers=SOON)
    reply = await shop.ask(model)

    assert (reply.status_code, reply.headers["x-should-retry"]) == (400, "false")
    assert len(shop.fake.served) == 1


@pytest.mark.parametrize("status", [429, 500])
@pytest.mark.parametrize("model", DIALECTS)
async def test_a_failure_that_may_pass_is_tried_again_with_the_very_same_request(
    shop: Polyglot, model: str, status: int
) -> None:
    """BerriAI/litellm 23546, 25843: what would pass is not retried; envoyproxy/envoy 36119: the body is sent twice."""
    shop.fake.scripts.append(Script(status=status, headers=SOON))
    found = await shop.booked(await shop.ask(model))
    first, second = shop.fake.served

    assert [attempt.outcome for attempt in found.attempts] == ["failed", "ok"]
    assert (first.body, first.path) == (second.body, second.path)
    assert first.headers["content-length"] == second.headers["content-length"]
    assert found.request.cost == cost(second.tokens)


async def test_a_provider_is_left_alone_for_as_long_as_it_says(shop: Polyglot) -> None:
    """Portkey-AI/gateway 267, mlflow 25268: Retry-After is not obeyed."""
    shop.fake.scripts.append(Script(status=429, headers={"retry-after": "600"}))
    elsewhere = await shop.ask("chain")
    shop.fake.scripts.append(Script(status=429, headers={"retry-after": "600"}))
    alone = await shop.ask("chat")

    assert (elsewhere.status_code, elsewhere.headers["x-sluice-model"]) == (200, "messages")
    assert (alone.status_code, alone.headers["retry-after"]) == (503, "600")
    assert [served.path for served in shop.fake.served].count("/v1/chat/completions") == 2


@pytest.mark.parametrize("model", ["chain", *DIALECTS])
async def test_an_answer_of_which_something_was_heard_is_never_asked_for_again(shop: Polyglot, model: str) -> None:
    """llm_proxy 4: a call is repeated though its client has heard something of it."""
    shop.fake.script = Script(cut_after=2)
    reply = await shop.ask(model, stream=True)

    assert reply.text.count("Hello") == 1
    assert "upstream_error" in reply.text
    assert len(shop.fake.served) == 1


async def test_an_answer_that_broke_off_unheard_is_paid_for_beside_the_one_that_came(shop: Polyglot) -> None:
    """BerriAI/litellm 28283: what a failed call cost is not booked."""
    shop.fake.scripts.append(Script(cut_after=2))
    reply = await shop.ask("chain")
    found = await shop.booked(reply)
    broken, whole = found.attempts

    assert reply.json()["choices"][0]["message"]["content"] == "Hello, world!"
    assert (broken.cost.nanos > 0, whole.cost) == (True, cost(shop.fake.last.tokens))
    assert found.request.cost.nanos == broken.cost.nanos + whole.cost.nanos
    assert reply.headers["x-sluice-cost-usd"] == found.request.cost.usd


@pytest.mark.parametrize("stream", [True, False])
async def test_a_free_model_with_a_dear_fallback_is_no_way_around_the_budget(tmp_path: Path, stream: bool) -> None:
    """BerriAI/litellm 41344: the budget is looked at once, for the model that costs nothing."""
    budget = {"limit": 0.0005, "window": "day"}
    teams = [{"name": "blue", "apps": [{"name": "bot", "budgets": [budget]}]}]
    routes = [{"name": "free-first", "weak": "free", "strong": "messages"}]
    free = sold("free", "chat", {"input": 0, "output": 0})
    async with polyglot(tmp_path, models=[free], routes=routes, teams=teams, reliability=UNAIDED) as shop:
        async with shop.audited():
            assert (await shop.ask("free-first", stream=stream)).status_code == 200
            shop.fake.script = Script(status=503)
            reply = await shop.ask("free-first", stream=stream)

        assert reply.status_code >= 429
        assert [served.path for served in shop.fake.served] == ["/v1/chat/completions"] * 2
        assert (await shop.spent()).nanos == 0
