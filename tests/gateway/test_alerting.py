"""Alerts of a whole gateway: from a request to the receiver that the policy names, over a restart."""

from pathlib import Path
from typing import Any

import pytest

from governance.alerts.outbox import listed
from tests.support.running_gateway import POLICY, RunningGateway, running_gateway
from tests.support.scripted_upstream import serve
from tests.support.waiting import eventually, until
from tests.support.webhooks import Receiver


async def test_a_step_that_a_request_reaches_is_told_once_over_a_restart(tmp_path: Path) -> None:
    receiver = Receiver()
    async with serve(receiver.app()) as port:
        budget = {"limit": 0.0004, "window": "day", "steps": {"40%": "alert", "100%": "block"}}
        team = {
            "name": "red",
            "budgets": [budget],
            "alerts": {"webhook": f"http://127.0.0.1:{port}/hook"},
            "apps": [{"name": "bot"}],
        }
        document = POLICY | {"teams": [team], "timezone": "UTC"}
        async with running_gateway(tmp_path, document) as gateway:
            gateway.upstream.script.pieces = ["word "] * 100
            key = await gateway.key()
            assert (await gateway.chat(key, "a secret plan", max_tokens=100)).status_code == 200
            await until(lambda: bool(receiver.got))
            await gateway.rows(1)
        async with running_gateway(tmp_path, document) as gateway:
            await gateway.services.desk.learn_keys()
            assert (await gateway.chat(key, "a secret plan", max_tokens=100)).status_code == 429
            await gateway.rows(2)
            fired = await listed(gateway.database, 10)
    assert [(alert.scope, alert.percent, delivery.value) for alert, delivery in fired] == [("team:red", 40, "sent")]
    (delivered,) = receiver.got
    assert (delivered.body["scope"], delivered.body["spent_usd"]) == ("team:red", "0.0002012")
    assert b"secret plan" not in delivered.raw


@pytest.mark.parametrize(
    ("budget", "told"),
    [
        ({"limit": 0.0021, "window": "day", "steps": {"50%": "block"}}, ("team:red", 50)),
        ({"limit": 0.00105, "window": "24h", "each": "user"}, ("team:red?user=ada", 100)),
    ],
)
async def test_a_budget_that_refuses_is_told_to_be_used_up_though_a_little_is_left(
    tmp_path: Path, budget: dict[str, Any], told: tuple[str, int]
) -> None:
    document = POLICY | {"teams": [{"name": "red", "budgets": [budget], "apps": [{"name": "bot"}]}], "timezone": "UTC"}
    async with running_gateway(tmp_path, document) as gateway:
        gateway.upstream.script.pieces = ["word "] * 100
        key = await gateway.key()
        answered = [(await gateway.chat(key, f"plan {n}", max_tokens=100, user="ada")).status_code for n in range(6)]
        await eventually(lambda: _fired(gateway))
        (alert,) = [alert for alert, _ in await listed(gateway.database, 10)]
    assert answered == [200] * 5 + [429]
    assert (alert.scope, alert.percent, alert.settled.usd) == (*told, "0.001006")


async def _fired(gateway: RunningGateway) -> bool:
    return bool(await listed(gateway.database, 10))


async def test_a_session_a_user_and_a_rolling_window_are_told_of_by_name(tmp_path: Path) -> None:
    receiver = Receiver()
    async with serve(receiver.app()) as port:
        budgets = [
            {"limit": 0.0004, "window": "session", "steps": {"40%": "alert"}},
            {"limit": 0.0004, "window": "day", "each": "user", "steps": {"40%": "alert"}},
            {"limit": 0.0004, "window": "36h", "steps": {"40%": "alert"}},
        ]
        app = {"name": "bot", "headers": ["session"], "budgets": budgets}
        team = {"name": "red", "alerts": {"webhook": f"http://127.0.0.1:{port}/hook"}, "apps": [app]}
        document = POLICY | {"teams": [team], "timezone": "UTC"}
        async with running_gateway(tmp_path, document) as gateway:
            gateway.upstream.script.pieces = ["word "] * 100
            key = await gateway.key()
            session = {"x-sluice-session": "s/1"}
            reply = await gateway.chat(key, "a secret plan", headers=session, user="ada", max_tokens=100)
            assert reply.status_code == 200
            await gateway.rows(1)
            await until(lambda: len(receiver.got) == 3)
        async with running_gateway(tmp_path, document) as gateway:
            await gateway.services.desk.learn_keys()
            fired = await listed(gateway.database, 10)
    told = {one.body["scope"]: (one.body["dimension"], one.body["value"], one.body["window"]) for one in receiver.got}
    assert told == {
        "app:red/bot?session=s%2F1": ("session", "s/1", "session"),
        "app:red/bot?user=ada": ("user", "ada", "day"),
        "app:red/bot": (None, None, "36h"),
    }
    assert len(fired) == 3
