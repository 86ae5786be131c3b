"""Budget steps, loops, windows and the brake, through a whole gateway."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import msgspec

from tests.support.running_gateway import POLICY, RunningGateway, policy, running_gateway

BASIC: dict[str, Any] = {"limit": 0.001, "window": "day"}


def stepped(*budgets: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a policy whose one app has these budgets, and a model in each of three tiers."""
    dear = {"provider": "engine", "model": "smollm2-135m-instruct", "price": {"input": 10, "output": 30}}
    models = [*POLICY["models"], dear | {"name": "middle", "tier": "middle"}]
    app = {"name": "bot", "headers": ["feature", "session"], "budgets": list(budgets)}
    features = [{"name": "exam", "floor": "middle"}]
    team = {"name": "tight", "apps": [app | {"features": features}]}
    changes: dict[str, Any] = {"tiers": ["local", "middle", "cloud"], "models": models, "teams": [team], "cache": {}}
    return policy(**(changes | more))


async def spend(gateway: RunningGateway, key: str, calls: int = 5) -> None:
    """Use up a budget of 0.001 USD: a hundred tokens at 2 USD per million are a fifth of it."""
    gateway.upstream.script.pieces = ["word "] * 100
    for n in range(calls):
        assert (await gateway.chat(key, f"spend {n}", model="small", max_tokens=100)).status_code == 200
    gateway.upstream.script.pieces = ["Hello", "!"]


def error_of(reply: httpx.Response) -> dict[str, Any]:
    return reply.json()["error"]


async def test_a_budget_that_says_downgrade_moves_requests_down_and_is_overrun_but_counted(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, stepped(BASIC | {"steps": {"100%": "downgrade"}})) as gateway:
        key = await gateway.key("tight")
        before = await gateway.chat(key, "before", model="middle", max_tokens=1)
        await spend(gateway, key)
        after = await gateway.chat(key, "after", model="middle", max_tokens=1)
        usage = await gateway.client.get("/v1/usage", headers={"x-api-key": key})
        newest, *_ = await gateway.rows(7)

        assert (before.headers["x-sluice-model"], before.headers["x-sluice-route"]) == ("middle", "pinned")
        assert (after.headers["x-sluice-model"], after.headers["x-sluice-route"]) == ("small", "budget:downgrade")
        assert newest.route == "budget:downgrade"
        (budget,) = usage.json()["budgets"]
        assert Decimal(budget["spent_usd"]) > Decimal("0.001")
        assert budget["remaining_usd"] == "0.00"


async def test_no_request_of_a_feature_falls_below_its_floor(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, stepped(BASIC | {"steps": {"50%": "downgrade"}})) as gateway:
        key = await gateway.key("tight")
        await spend(gateway, key)
        reply = await gateway.chat(key, "x", model="middle", max_tokens=1, headers={"x-sluice-feature": "exam"})

        assert (reply.headers["x-sluice-model"], reply.headers["x-sluice-route"]) == ("middle", "pinned")


async def test_a_tight_budget_shortens_answers(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, stepped(BASIC | {"steps": {"80%": "tighten"}})) as gateway:
        key = await gateway.key("tight")
        await spend(gateway, key)
        silent = await gateway.chat(key, "one")
        said = await gateway.chat(key, "two", max_tokens=100)

        assert silent.headers["x-sluice-route"] == said.headers["x-sluice-route"] == "weak;budget:tighten"
        assert [body["max_completion_tokens"] for body in gateway.upstream.bodies[-2:]] == [16, 50]


async def test_a_tight_budget_takes_a_stored_answer_of_any_age(tmp_path: Path) -> None:
    cache = {"exact": {"ttl": "1h", "shared_by": "app"}}
    async with running_gateway(tmp_path, stepped(BASIC | {"steps": {"80%": "tighten"}}, cache=cache)) as gateway:
        key = await gateway.key("tight")
        await gateway.chat(key, "kept")
        picky = {"cache-control": "max-age=0"}
        before = await gateway.chat(key, "kept", headers=picky)
        await spend(gateway, key)
        after = await gateway.chat(key, "kept", headers=picky)

        assert (before.headers["x-sluice-cache"], after.headers["x-sluice-cache"]) == ("miss", "exact")


async def test_a_budget_blocks_where_its_steps_say(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, stepped(BASIC | {"steps": {"10%": "alert", "50%": "block"}})) as gateway:
        key = await gateway.key("tight")
        await spend(gateway, key, 1)
        alerted = await gateway.chat(key, "a little", max_tokens=1)
        refused = await gateway.chat(key, "a lot", max_tokens=100)
        while refused.status_code == 200:
            refused = await gateway.chat(key, "a lot", max_tokens=100)

        assert alerted.headers["x-sluice-route"] == "weak;budget:alert"
        assert (error_of(refused)["code"], error_of(refused)["limit_usd"]) == ("insufficient_quota", "0.0005")


async def test_work_that_will_never_fit_is_refused_where_other_work_is_queued(tmp_path: Path) -> None:
    document = stepped({"limit": 0.0001, "window": "day", "steps": {"100%": "queue"}})
    async with running_gateway(tmp_path, document) as gateway:
        reply = await gateway.chat(await gateway.key("tight"), max_tokens=100)

        assert (reply.status_code, error_of(reply)["code"]) == (429, "insufficient_quota")


async def test_each_session_has_its_own_budget_and_who_has_none_is_not_under_it(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, stepped({"limit": 0.0005, "window": "session"})) as gateway:
        gateway.upstream.script.pieces = ["word "] * 100
        key = await gateway.key("tight")

        async def ask(session: str | None) -> httpx.Response:
            return await gateway.chat(key, max_tokens=100, headers={"x-sluice-session": session} if session else None)

        while (refused := await ask("one;1")).status_code == 200:
            pass
        assert error_of(refused)["scope"] == "app:tight/bot?session=one%3B1"
        assert error_of(refused)["window"] == "session"
        assert (await ask("two")).status_code == 200
        assert [(await ask(None)).status_code for _ in range(4)] == [200] * 4
    async with running_gateway(tmp_path, stepped({"limit": 0.0005, "window": "session"})) as gateway:
        assert (await gateway.chat(key, max_tokens=100, headers={"x-sluice-session": "one;1"})).status_code == 429


async def test_the_very_same_request_is_answered_so_often_and_no_more(tmp_path: Path) -> None:
    for cache in ({}, {"exact": {"ttl": "1h", "shared_by": "app"}}):
        document = stepped(limits={"loop": {"same_request": 3, "within": "10m"}}, cache=cache)
        folder = tmp_path / str(bool(cache))
        folder.mkdir()
        async with running_gateway(folder, document) as gateway:
            key = await gateway.key("tight")
            replies = [await gateway.chat(key, "again") for _ in range(4)]
            other = await gateway.chat(key, "something else")

            assert [reply.status_code for reply in replies] == [200, 200, 200, 429]
            assert (error_of(replies[-1])["code"], replies[-1].headers["x-should-retry"]) == ("loop_detected", "false")
            assert other.status_code == 200


async def test_a_session_that_does_not_end_is_stopped(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, stepped(limits={"loop": {"session_requests": 2}})) as gateway:
        key = await gateway.key("tight")
        codes = [(await gateway.chat(key, str(n), headers={"x-sluice-session": "s"})).status_code for n in range(3)]

        assert codes == [200, 200, 429]
        assert (await gateway.chat(key, "x", headers={"x-sluice-session": "t"})).status_code == 200


async def test_an_answer_that_outgrows_its_hold_stops_at_what_is_left(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, stepped({"limit": 0.0002, "window": "24h"})) as gateway:
        gateway.upstream.script.pieces = ["word "] * 400
        key = await gateway.key("tight")
        reply = await gateway.chat(key, max_tokens=10, stream=True)
        chunks = [msgspec.json.decode(line[6:]) for line in reply.text.splitlines() if line.startswith("data: {")]
        (row,) = await gateway.rows(1)

        assert chunks[-1]["choices"][0]["finish_reason"] == "length"
        assert chunks[-1]["sluice"]["stopped_by"] == "app:tight/bot"
        assert reply.text.rstrip().endswith("data: [DONE]")
        assert Decimal("0.00019") < Decimal(row.cost.usd) <= Decimal("0.0002")
        assert gateway.services.purse.open_holds == 0


async def test_usage_tells_where_a_budget_will_end(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, stepped(BASIC | {"window": "month"}, BASIC | {"window": "7d"})) as gateway:
        key = await gateway.key("tight")
        await spend(gateway, key, 2)
        usage = await gateway.client.get("/v1/usage", headers={"x-api-key": key})

        month, rolling = usage.json()["budgets"]
        assert Decimal(month["forecast_usd"]) >= Decimal(month["spent_usd"])
        assert month["forecast_by"] == "linear"
        assert (rolling["window"], rolling["forecast_usd"], rolling["runs_out_at"]) == ("7d", None, None)


async def test_a_stored_answer_shows_the_same_budget_as_a_bought_one(tmp_path: Path) -> None:
    overrun = {"limit": 0.000001, "window": "week", "steps": {"100%": "alert"}}
    cache = {"exact": {"ttl": "1h", "shared_by": "app"}}
    async with running_gateway(tmp_path, stepped(overrun, BASIC, cache=cache)) as gateway:
        key = await gateway.key("tight")
        bought, stored = await gateway.chat(key), await gateway.chat(key)

        assert (bought.headers["x-sluice-cache"], stored.headers["x-sluice-cache"]) == ("miss", "exact")
        assert bought.headers["x-sluice-budget"] == stored.headers["x-sluice-budget"]
