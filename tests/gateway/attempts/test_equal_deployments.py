"""A model with several deployments is answered by the cheapest of them, or by the least busy, as the policy says."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.support.scripted_upstream import Script
from tests.support.three_providers import document, three_providers


def models(first: float, second: float) -> list[dict[str, Any]]:
    """Return `far` with a deployment at each cloud, at so many USD per million tokens in."""
    far = {"name": "far", "provider": "one", "model": "far-1", "tier": "cloud", "price": {"input": first, "output": 30}}
    twin = far | {"name": "far-two", "provider": "two", "price": {"input": second, "output": 30}, "same_as": "far"}
    return [*document((1, 2))["models"], far, twin]


@pytest.mark.parametrize(("prices", "answers"), [((10, 9), "far-two"), ((9, 10), "far"), ((10, 10), "far")])
async def test_the_cheapest_deployment_answers(tmp_path: Path, prices: tuple[float, float], answers: str) -> None:
    async with three_providers(tmp_path, models=models(*prices)) as at:
        reply = await at.chat("far")
        assert (reply.headers["x-sluice-model"], reply.headers["x-sluice-route"]) == (answers, "pinned")


async def test_the_other_deployment_answers_for_one_that_fails(tmp_path: Path) -> None:
    async with three_providers(tmp_path, models=models(10, 11)) as at:
        at.one.script = Script(status=500)
        reply = await at.chat("far")

        assert (reply.headers["x-sluice-model"], reply.headers["x-sluice-route"]) == ("far-two", "fallback:1")
        row, attempts = await at.told()
        assert (row.model, [made.provider for made in attempts]) == ("far-two", ["one", "two"])


async def test_the_deployment_with_the_fewest_calls_under_way_answers_where_the_policy_says_so(tmp_path: Path) -> None:
    reliability = {"retries": 0, "balance": "least_busy"}
    async with three_providers(tmp_path, models=models(9, 10), reliability=reliability) as at:
        gate = asyncio.Event()
        at.one.script = Script(silent=gate)
        waiting = asyncio.create_task(at.chat("far"))
        await at.one.until(lambda: len(at.one.bodies) == 1)
        reply = await at.chat("far", text="another")
        gate.set()

        assert reply.headers["x-sluice-model"] == "far-two"
        assert (await waiting).headers["x-sluice-model"] == "far"
        assert at.calls == (0, 1, 1)


async def test_a_deployment_is_a_model_of_its_own_too(tmp_path: Path) -> None:
    async with three_providers(tmp_path, models=models(9, 10)) as at:
        assert (await at.chat("far-two")).headers["x-sluice-model"] == "far-two"


async def test_a_deployment_outside_the_zone_does_not_answer_inside_it(tmp_path: Path) -> None:
    near = {"name": "near", "provider": "engine", "model": "dear", "tier": "cloud", "price": {"input": 9, "output": 9}}
    twin = near | {"name": "near-cloud", "provider": "one", "price": {"input": 1, "output": 1}, "same_as": "near"}
    async with three_providers(tmp_path, models=[*document((1, 2))["models"], near, twin]) as at:
        at.gateway.upstream.served = (*at.gateway.upstream.served, "dear")
        at.gateway.upstream.script = Script(status=500)
        free = await at.chat("near")
        confined = await at.chat("near", headers={"x-sluice-zone": "onprem"})

        assert (free.headers["x-sluice-model"], confined.status_code) == ("near-cloud", 502)
        assert at.calls == (1, 1, 0)
