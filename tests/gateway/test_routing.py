"""Which model of a route answers, over a whole gateway with the router and the embedding that come with it."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.running_gateway import RunningGateway, policy, running_gateway

pytest.importorskip("onnxruntime", reason="the embedding's extra is not installed")

LEARNED = (
    "Natalia sold clips to 48 of her friends in April, and then she sold half as many clips in May. "
    "How many clips did Natalia sell altogether in April and May?"
)
STRANGE = "Schreib mir bitte eine freundliche Absage an unseren Hausmeister, der morgen den Rasen mähen wollte!"


def routed(threshold: Any, **more: Any) -> dict[str, Any]:
    route = {"name": "auto", "weak": "small", "strong": "dear", "threshold": threshold}
    return policy(routes=[route]) | more


async def asked(gateway: RunningGateway, text: str, team: str = "blue", **headers: str) -> httpx.Response:
    return await gateway.chat(await gateway.key(team), text, model="auto", headers=headers)


async def test_a_prompt_like_those_that_were_learned_is_scored_against_the_threshold(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, routed(1.0)) as gateway:
        reply = await asked(gateway, LEARNED)
        assert reply.headers["x-sluice-model"] == "small"
        assert reply.headers["x-sluice-route"].startswith("learned:weak p=")
        assert reply.headers["x-sluice-route"].endswith("<1.00")


async def test_above_the_threshold_the_strong_model_answers(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, routed(0.0)) as gateway:
        reply = await asked(gateway, LEARNED)
        assert reply.headers["x-sluice-model"] == "dear"
        assert reply.headers["x-sluice-route"].startswith("learned:strong p=")


async def test_a_strange_prompt_goes_to_the_strong_model_whatever_the_threshold(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, routed(1.0)) as gateway:
        reply = await asked(gateway, STRANGE)
        assert (reply.headers["x-sluice-model"], reply.headers["x-sluice-route"]) == ("dear", "ood:strong")


async def test_aims_are_met_by_thresholds_of_the_calibration(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, routed({"cost_share": 0})) as gateway:
        assert (await asked(gateway, LEARNED)).headers["x-sluice-model"] == "small"
        await gateway.follow(routed({"quality": 1}))
        assert (await asked(gateway, LEARNED, **{"cache-control": "no-cache"})).headers["x-sluice-model"] == "dear"


async def test_who_may_use_one_of_the_models_alone_is_not_asked_about(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, routed(0.0)) as gateway:
        reply = await asked(gateway, LEARNED, team="red")
        assert (reply.headers["x-sluice-model"], reply.headers["x-sluice-route"]) == ("small", "weak")


async def test_a_router_that_cannot_be_used_leaves_it_to_the_strong_model(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "router.safetensors").write_bytes(b"no router")
    async with running_gateway(tmp_path, routed(1.0)) as gateway:
        reply = await asked(gateway, LEARNED)
        assert (reply.headers["x-sluice-model"], reply.headers["x-sluice-route"]) == ("dear", "unscored:strong")


async def test_a_route_without_a_threshold_asks_the_weak_model_first(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        assert (await asked(gateway, STRANGE)).headers["x-sluice-route"] == "weak"
