"""A provider fails, and the request is answered all the same: in its zone, its tiers, its budgets and its time."""

import asyncio
from pathlib import Path

import pytest

from governance.money import Nanodollars
from tests.support.running_gateway import RunningGateway
from tests.support.scripted_upstream import Script
from tests.support.three_providers import three_providers
from tests.support.waiting import until

BUSY = Script(status=503)
CUT = Script(cut_after=2)


def usd(text: str) -> Nanodollars:
    return Nanodollars.parse(text)


def kept(gateway: RunningGateway) -> int:
    return gateway.services.purse.open_holds


async def test_a_fallback_answers_and_the_ledger_has_both_calls(tmp_path: Path) -> None:
    async with three_providers(tmp_path) as at:
        at.one.script = BUSY
        reply = await at.chat()

        assert (reply.status_code, reply.json()["choices"][0]["message"]["content"]) == (200, "Hello, world!")
        named = {name: reply.headers[f"x-sluice-{name}"] for name in ("model", "provider", "route", "attempts")}
        assert named == {"model": "second", "provider": "two", "route": "fallback:1", "attempts": "2"}
        row, attempts = await at.told()
        assert (row.model, row.provider, row.route, row.attempts) == ("second", "two", "fallback:1", 2)
        assert [(made.model, made.outcome, made.status) for made in attempts] == [
            ("first", "failed", 503),
            ("second", "ok", 200),
        ]
        assert (attempts[0].cost.usd, attempts[1].cost) == ("0.00", row.cost)
        assert (at.calls, kept(at.gateway)) == ((0, 1, 1), 0)


async def test_a_stream_says_who_answers_it_after_all(tmp_path: Path) -> None:
    async with three_providers(tmp_path) as at:
        at.one.script = BUSY
        reply = await at.chat(stream=True)

        assert "world" in reply.text
        assert [reply.headers[f"x-sluice-{name}"] for name in ("model", "attempts")] == ["second", "2"]


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529])
async def test_a_call_that_failed_is_made_again_where_it_failed(tmp_path: Path, status: int) -> None:
    async with three_providers(tmp_path, reliability={"retries": 2}) as at:
        at.one.before = [Script(status=status, headers={"retry-after-ms": "1"})] * 2
        reply = await at.chat()

        assert (reply.headers["x-sluice-route"], reply.headers["x-sluice-attempts"]) == ("weak", "3")
        row, attempts = await at.told()
        assert [(made.model, made.outcome) for made in attempts] == [("first", "failed")] * 2 + [("first", "ok")]
        assert (row.attempts, at.calls) == (3, (0, 3, 0))


@pytest.mark.parametrize("status", [400, 404, 413, 422])
async def test_a_request_that_is_to_blame_is_not_made_again(tmp_path: Path, status: int) -> None:
    async with three_providers(tmp_path, reliability={"retries": 2}) as at:
        at.one.script = Script(status=status)
        reply = await at.chat()

        assert (reply.status_code, at.calls) == (400, (0, 1, 0))


async def test_a_key_that_a_provider_refuses_is_not_tried_again_there(tmp_path: Path) -> None:
    async with three_providers(tmp_path, reliability={"retries": 2}) as at:
        at.one.script = Script(status=401)
        await at.chat()

        assert at.calls == (0, 1, 1)


async def test_a_provider_that_wants_to_be_left_alone_for_long_is_left_for_another(tmp_path: Path) -> None:
    async with three_providers(tmp_path, reliability={"retries": 2}) as at:
        at.one.script = Script(status=429, headers={"retry-after": "600"})
        reply = await at.chat()
        alone = await at.chat("first")

        assert (reply.headers["x-sluice-model"], at.calls) == ("second", (0, 2, 1))
        assert (alone.status_code, alone.headers["retry-after"]) == (503, "600")


async def test_nothing_is_made_again_once_the_client_has_heard_something(tmp_path: Path) -> None:
    async with three_providers(tmp_path, reliability={"retries": 2}) as at:
        at.one.script = CUT
        reply = await at.chat(stream=True)

        assert '"error"' in reply.text
        assert "[DONE]" not in reply.text
        assert at.calls == (0, 1, 0)


async def test_an_answer_that_broke_off_unheard_is_made_again_and_what_it_cost_is_paid(tmp_path: Path) -> None:
    async with three_providers(tmp_path) as at:
        at.one.script = CUT
        reply = await at.chat()

        assert reply.json()["choices"][0]["message"]["content"] == "Hello, world!"
        row, (failed, answered) = await at.told()
        assert failed.cost > usd("0")
        assert row.cost == failed.cost + answered.cost
        assert reply.headers["x-sluice-cost-usd"] == row.cost.usd
        assert (row.output_tokens, at.calls) == (4, (0, 1, 1))


async def test_a_budget_that_fits_only_the_cheap_fallback_gets_the_cheap_fallback(tmp_path: Path) -> None:
    teams = [{"name": "blue", "apps": [{"name": "bot", "budgets": [{"limit": 0.008, "window": "day"}]}]}]
    async with three_providers(tmp_path, teams=teams) as at:
        at.one.script = BUSY
        reply = await at.chat()

        assert reply.headers["x-sluice-model"] == "cheap"
        row, attempts = await at.told()
        assert [made.model for made in attempts] == ["first", "cheap"]
        assert (row.cost, at.calls) == (attempts[1].cost, (0, 1, 1))


async def test_a_budget_that_fits_no_other_call_ends_the_request_with_what_the_provider_said(tmp_path: Path) -> None:
    budget = {"limit": 5, "window": "day", "per_request": 0.0052}
    teams = [{"name": "blue", "apps": [{"name": "bot", "budgets": [budget]}]}]
    async with three_providers(tmp_path, teams=teams, reliability={"retries": 2}) as at:
        at.one.script = Script(cut_after=1)  # that is paid for, so no other call of its price fits
        reply = await at.chat("first")

        assert (reply.status_code, reply.json()["error"]["code"]) == (502, "upstream_error")
        row, attempts = await at.told()
        assert (row.kind, row.outcome, row.cost) == ("settled", "failed", attempts[0].cost)
        assert (len(attempts), at.calls, kept(at.gateway)) == (1, (0, 1, 0), 0)


async def test_a_request_confined_to_a_zone_never_falls_back_out_of_it(tmp_path: Path) -> None:
    async with three_providers(tmp_path) as at:
        at.gateway.upstream.script = BUSY
        confined = await at.chat("mixed", headers={"x-sluice-zone": "onprem"})
        free = await at.chat("mixed")

        assert (confined.status_code, free.headers["x-sluice-model"]) == (503, "first")
        assert at.calls == (2, 1, 0)


async def test_a_caller_never_falls_back_to_a_tier_it_may_not_use(tmp_path: Path) -> None:
    async with three_providers(tmp_path) as at:
        at.gateway.upstream.script = BUSY
        reply = await at.gateway.chat(await at.gateway.key("red"), model="mixed")

        assert (reply.status_code, at.calls) == (503, (1, 0, 0))


async def test_a_request_that_a_budget_brought_down_falls_back_no_higher(tmp_path: Path) -> None:
    budget = {"limit": 1, "window": "day", "steps": {"1%": "downgrade"}}
    teams = [{"name": "blue", "apps": [{"name": "bot", "budgets": [budget]}]}]
    async with three_providers(tmp_path, teams=teams) as at:
        at.one.script = Script(prompt_tokens=2_000)  # 2 cents
        await at.chat()
        at.two.script = BUSY
        reply = await at.chat(text="again")

        assert (reply.status_code, at.calls) == (503, (0, 1, 1))
        row, attempts = await at.told(2)
        assert (row.route, [made.model for made in attempts]) == ("budget:downgrade", ["cheap"])


async def test_a_model_asked_for_by_name_has_no_fallback(tmp_path: Path) -> None:
    async with three_providers(tmp_path) as at:
        at.one.script = BUSY
        assert (await at.chat("first")).status_code == 503
        assert at.calls == (0, 1, 0)


@pytest.mark.parametrize(("attempts", "calls"), [(1, (0, 1, 0)), (2, (0, 1, 1)), (4, (0, 1, 2))])
async def test_a_request_makes_no_more_attempts_than_the_policy_lets_it(
    tmp_path: Path, attempts: int, calls: tuple[int, int, int]
) -> None:
    async with three_providers(tmp_path, reliability={"retries": 0, "attempts": attempts}) as at:
        at.one.script = at.two.script = BUSY
        reply = await at.chat()

        assert (reply.status_code, at.calls) == (503, calls)
        row, made = await at.told()
        assert (row.attempts, len(made)) == (sum(calls), sum(calls))


async def test_a_request_whose_time_is_over_makes_no_other_attempt_and_blames_nobody(tmp_path: Path) -> None:
    async with three_providers(tmp_path, reliability={"breaker": {"failures": 1}}) as at:
        at.one.script = Script(silent=asyncio.Event())
        reply = await at.chat(headers={"x-sluice-timeout-ms": "200"})

        assert (reply.status_code, at.calls) == (504, (0, 1, 0))
        assert at.gateway.services.in_force.governed.catalogue.unavailable_models() == {}


async def test_a_client_that_leaves_between_two_attempts_is_not_tried_for_again(tmp_path: Path) -> None:
    async with three_providers(tmp_path, reliability={"retries": 2}) as at:
        at.one.script = Script(status=503, headers={"retry-after": "20"})
        pending = asyncio.create_task(at.chat("first"))
        await at.one.until(lambda: len(at.one.bodies) == 1)
        await until(lambda: kept(at.gateway) == 1)
        pending.cancel()
        await asyncio.gather(pending, return_exceptions=True)

        row, attempts = await at.told()
        assert (row.kind, len(attempts), at.calls) == ("settled", 1, (0, 1, 0))


async def test_what_keeps_failing_is_left_alone_and_others_answer_at_once(tmp_path: Path) -> None:
    breaker = {"failures": 1, "pause": "1h"}
    async with three_providers(tmp_path, reliability={"retries": 0, "breaker": breaker}) as at:
        at.one.before = [BUSY]
        await at.chat()
        reply = await at.chat(text="again")
        alone = await at.chat("first")

        assert (reply.headers["x-sluice-route"], reply.headers["x-sluice-attempts"]) == ("unavailable:first", "1")
        assert (alone.status_code, alone.json()["error"]["code"], at.calls) == (503, "overloaded", (0, 1, 2))


async def test_a_change_of_policy_does_not_forget_what_keeps_failing(tmp_path: Path) -> None:
    reliability = {"retries": 0, "breaker": {"failures": 1, "pause": "1h"}}
    async with three_providers(tmp_path, reliability=reliability) as at:
        at.one.before = [BUSY]
        await at.chat()
        await at.gateway.follow((tmp_path / "policy.yaml").read_text("utf-8") + "baseline: second\n")
        reply = await at.chat(text="again")

        assert (reply.headers["x-sluice-route"], at.calls) == ("unavailable:first", (0, 1, 2))
