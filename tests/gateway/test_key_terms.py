"""Keys that are narrowed: to tiers, to models, to budgets of their own."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from gateway.errors import BadRequest
from gateway.operations.key_terms import read_budget
from governance.identity import KeyTerms
from governance.limits import Budget
from governance.money import Nanodollars
from governance.windows import Rolling, Span, WindowKind
from tests.support.running_gateway import RunningGateway, running_gateway


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncGenerator[RunningGateway]:
    async with running_gateway(tmp_path) as running:
        yield running


async def names(gateway: RunningGateway, key: str) -> list[str]:
    reply = await gateway.client.get("/v1/models", headers={"x-api-key": key})
    return [model["id"] for model in reply.json()["data"]]


async def test_a_key_of_one_tier_reaches_no_other(gateway: RunningGateway) -> None:
    key = await gateway.key("blue", terms=KeyTerms(tiers=("local",)))
    assert await names(gateway, key) == ["auto", "small", "minilm"]
    refused = await gateway.chat(key, model="dear")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "model_not_allowed")
    assert (await gateway.chat(key)).headers["x-sluice-model"] == "small"


async def test_a_key_of_one_model_takes_it_on_every_route(gateway: RunningGateway) -> None:
    key = await gateway.key("blue", terms=KeyTerms(models=("dear",)))
    assert await names(gateway, key) == ["auto", "dear"]
    assert (await gateway.chat(key)).headers["x-sluice-model"] == "dear"
    assert (await gateway.chat(key, model="small")).status_code == 403


async def test_a_key_never_widens_what_the_policy_grants(gateway: RunningGateway) -> None:
    key = await gateway.key("red", terms=KeyTerms(tiers=("cloud",), models=("dear",)))
    assert await names(gateway, key) == []
    assert (await gateway.chat(key, model="dear")).status_code == 403


async def test_answers_of_other_keys_do_not_reach_a_key_whose_models_exclude_them(gateway: RunningGateway) -> None:
    wide, narrow = await gateway.key("blue"), await gateway.key("blue", terms=KeyTerms(models=("dear",)))
    assert (await gateway.chat(wide, "shared")).headers["x-sluice-model"] == "small"
    reply = await gateway.chat(narrow, "shared")
    assert (reply.headers["x-sluice-cache"], reply.headers["x-sluice-model"]) == ("miss", "dear")


async def test_a_keys_own_budget_holds_over_a_restart(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        gateway.upstream.script.pieces = ["word "] * 100
        key = await gateway.key(terms=KeyTerms(budgets=(Budget("key", Nanodollars(600_000), WindowKind.DAY),)))
        replies = [await gateway.chat(key, f"{n}", max_tokens=100) for n in range(4)]
        assert [reply.status_code for reply in replies] == [200, 200, 429, 429]
        assert replies[0].headers["x-sluice-budget"].startswith("scope=key:")
        assert replies[2].json()["error"]["scope"] == f"key:{key.split('-')[2]}"
        await gateway.rows(4)
    async with running_gateway(tmp_path) as gateway:
        gateway.upstream.script.pieces = ["word "] * 100
        assert (await gateway.chat(key, "5", max_tokens=100)).status_code == 429
        usage = (await gateway.client.get("/v1/usage", headers={"x-api-key": key})).json()
        (budget,) = [one for one in usage["budgets"] if one["scope"].startswith("key:")]
        assert (budget["limit_usd"], budget["spent_usd"]) == ("0.0006", "0.0004024")


@pytest.mark.parametrize(
    "text",
    [
        "5",
        "5/fortnight",
        "five/day",
        "-5/day",
        "0/day",
        "1e9/day",
        "0.0000000001/day",
        "",
        "5/session",
        "5/0h",
        "5/24",
        "5/400d",
        "5/24H",
    ],
)
def test_what_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match="is no budget"):
        read_budget(text)


def test_what_is_no_budget_is_told_with_what_would_be_one() -> None:
    with pytest.raises(BadRequest) as refused:
        read_budget("5/fortnight")
    assert str(refused.value) == (
        "'5/fortnight' is no budget; write an amount and a window, such as 5/day (minute, hour, day, week, month, "
        "quarter), or the last so long, such as 5/24h or 5/7d"
    )


@pytest.mark.parametrize(
    ("text", "window"),
    [("2.50/month", WindowKind.MONTH), ("2.50/24h", Rolling(86_400)), ("2.50/7d", Rolling(7 * 86_400))],
)
def test_a_budget_is_read_exactly(text: str, window: Span) -> None:
    assert read_budget(text) == Budget("key", Nanodollars(2_500_000_000), window)


async def test_a_key_has_a_rolling_budget_over_a_restart(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        gateway.upstream.script.pieces = ["word "] * 100
        key = await gateway.key(terms=KeyTerms(budgets=(read_budget("0.0006/36h"),)))
        assert [(await gateway.chat(key, f"{n}", max_tokens=100)).status_code for n in range(3)] == [200, 200, 429]
        await gateway.rows(3)
    async with running_gateway(tmp_path) as gateway:
        refused = await gateway.chat(key, "4", max_tokens=100)
        assert (refused.status_code, refused.json()["error"]["window"]) == (429, "36h")
