"""A model as judge: asked by the gateway's own path, on the app's account, within its rules, and marked as such."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.caching.comparing import Comparison
from gateway.caching.model_judge import ModelJudge
from gateway.steps.admission import Asked
from gateway.wire.request.chat_body import ChatFields, decode_chat
from gateway.wire.request.controls import Controls
from governance.attribution import Offered
from governance.ledger.reading import reports
from tests.support.running_gateway import RunningGateway, policy, running_gateway

CLOUD = {"kind": "openai", "zone": "cloud", "api_key": "sk-none"}
ENGINE = {"kind": "engine", "zone": "onprem", "machine_usd_per_hour": 0.36}


def document(**changes: Any) -> dict[str, Any]:
    semantic = {"enabled": ["bot/faq"], "max_error": 0.1, "ttl": "1h", "judge": "small"}
    app = {"name": "bot", "headers": ["feature", "session"], "features": [{"name": "faq"}]}
    team = {"name": "red", "tiers": ["local"], "apps": [app | changes.pop("app", {})]}
    return policy(cache={"exact": {"ttl": "1h"}, "semantic": semantic}, teams=[team], limits={}, **changes)


@asynccontextmanager
async def judging(folder: Path, said: str = "SAME", **changes: Any) -> AsyncGenerator[RunningGateway]:
    async with running_gateway(folder, document(**changes)) as gateway:
        gateway.upstream.script.pieces = [said]
        yield gateway


async def comparison(gateway: RunningGateway, **controls: Any) -> Comparison:
    caches = gateway.services.caches
    body, fields = decode_chat(b'{"model": "auto", "messages": [{"role": "user", "content": "Hi"}], "stream": true}')
    asked: Asked[ChatFields] = Asked(
        request_id="req_first",
        at=caches.now(),
        tick=caches.ticks(),
        endpoint="messages",
        caller=gateway.services.keyring.authenticate(await gateway.key(), caches.now()),
        offered=Offered({"feature": "faq", "session": "long"}, {"session": "long"}),
        controls=replace(Controls(None, None, ""), **controls),
        body=body,
        size=100,
        fields=fields,
        model="auto",
        limit_s=60.0,
        stream=True,
        dialect="messages",
    )
    texts = {
        "question": "Where is it?",
        "answer": "Here.",
        "stored_question": "Where was it?",
        "stored_answer": "There.",
    }
    return Comparison(asked=asked, **texts)


def judge(gateway: RunningGateway, model: str = "small") -> ModelJudge:
    caches, in_force = gateway.services.caches, gateway.services.in_force
    return ModelJudge(model=model, in_force=in_force, now=caches.now, ticks=caches.ticks, new_id=caches.new_id)


@pytest.mark.parametrize(
    ("said", "same"),
    [("SAME", True), ("different.", False), ("**Same**", True), ("The same", None), ("Maybe", None), ("", None)],
)
async def test_one_word_is_read_and_nothing_else(tmp_path: Path, said: str, same: bool | None) -> None:
    async with judging(tmp_path, said) as gateway:
        verdict = await judge(gateway).compare(await comparison(gateway))
        assert verdict.same is same, verdict


async def test_its_call_is_on_the_ledger_as_a_judges_and_in_nobodys_session(tmp_path: Path) -> None:
    async with judging(tmp_path) as gateway:
        await judge(gateway).compare(await comparison(gateway, idempotency_key="once"))
        (row,) = await gateway.rows(1)
        assert (row.endpoint, row.team, row.app, row.feature) == ("judge", "red", "bot", "faq")
        assert (row.session, row.stream, row.cache, row.model) == ("unattributed", False, "bypass", "small")
        assert row.cost.nanos > 0
        detail = await reports.request(gateway.database, row.request_id)
        assert detail is not None
        assert [attempt.purpose for attempt in detail.attempts] == ["judge"]


async def test_it_is_asked_each_time_and_teaches_the_caches_nothing(tmp_path: Path) -> None:
    async with judging(tmp_path) as gateway:
        asked = await comparison(gateway)
        for _ in range(3):
            await judge(gateway).compare(asked)
        assert len(gateway.upstream.bodies) == 3
        assert (await gateway.services.caches.answers.size()).entries == 0
        assert gateway.services.caches.semantics.standings() == {}
        texts = str(gateway.upstream.bodies[0]["messages"])
        assert all(text in texts for text in ("Where is it?", "Here.", "Where was it?", "There."))


@pytest.mark.parametrize("steps", [{}, {"steps": {"100%": "queue"}}])
async def test_a_spent_budget_silences_it_and_queues_nothing(tmp_path: Path, steps: dict[str, Any]) -> None:
    budget = {"limit": 0.00000001, "window": "day", **steps}
    async with judging(tmp_path, app={"budgets": [budget]}) as gateway:
        verdict = await judge(gateway).compare(await comparison(gateway))
        assert (verdict.same, verdict.reason) == (None, "the judge could not be asked: BudgetExhausted")
        assert gateway.upstream.bodies == []
        (row,) = await gateway.rows(1)
        assert (row.endpoint, row.code) == ("judge", "insufficient_quota")


async def test_a_model_that_the_feature_may_not_use_is_not_asked(tmp_path: Path) -> None:
    async with judging(tmp_path) as gateway:
        verdict = await judge(gateway, "dear").compare(await comparison(gateway))
        assert verdict.same is None
        assert gateway.upstream.bodies == []


async def test_what_may_not_leave_a_zone_is_shown_to_no_judge_outside_it(tmp_path: Path) -> None:
    models = [
        {"name": "small", "provider": "engine", "model": "smollm2-135m-instruct", "tier": "local", "price": "measured"},
        {"name": "far", "provider": "cloud", "model": "far", "tier": "local", "price": {"input": 1, "output": 1}},
    ]
    changes: dict[str, Any] = {"models": models, "routes": [{"name": "auto", "weak": "small", "strong": "far"}]}
    async with judging(tmp_path, providers={"engine": ENGINE, "cloud": CLOUD}, **changes) as gateway:
        verdict = await judge(gateway, "far").compare(await comparison(gateway, zone="onprem"))
        assert verdict.same is None
        (row,) = await gateway.rows(1)
        assert row.code == "zone_refused"


async def test_a_failing_model_says_nothing(tmp_path: Path) -> None:
    async with judging(tmp_path) as gateway:
        gateway.upstream.script.status = 500
        assert (await judge(gateway).compare(await comparison(gateway))).same is None
