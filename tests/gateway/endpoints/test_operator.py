"""What operators are told of the semantic cache: its metrics for each feature, and that it is missing where it is."""

from pathlib import Path
from typing import Any

import pytest

from cache.errors import EmbeddingMissing
from cache.learning.lookups import Action
from gateway.caching import opening
from tests.support.recorded_lookups import found
from tests.support.running_gateway import RunningGateway, policy, running_gateway
from tests.support.waiting import until

SEMANTIC = policy(
    cache={"semantic": {"enabled": ["bot/faq"], "max_error": 0.1, "ttl": "1h"}},
    teams=[{"name": "red", "apps": [{"name": "bot", "features": [{"name": "faq"}]}]}],
    limits={},
)


async def metrics(gateway: RunningGateway) -> dict[str, float]:
    lines = (await gateway.client.get("/metrics")).text.splitlines()
    told = (line.rpartition(" ") for line in lines if line.startswith("sluice_semantic"))
    return {name: float(value) for name, _, value in told}


async def test_a_feature_is_told_of_with_its_error_and_is_not_open_without_a_cache(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        assert await metrics(gateway) == {}
        gateway.services.caches.semantics.learn(found(Action.EXPLORE))
        assert await metrics(gateway) == {
            'sluice_semantic_cache_open{feature="red/bot/faq"}': 0.0,
            'sluice_semantic_cache_error{feature="red/bot/faq",limit="estimate"}': 0.0,
            'sluice_semantic_cache_error{feature="red/bot/faq",limit="upper"}': 0.0,
        }


async def test_a_cache_that_cannot_be_opened_is_told_and_the_gateway_is_ready_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*_: Any) -> None:
        raise EmbeddingMissing("all-MiniLM-L6-v2", "sluicegate[semantic]")

    monkeypatch.setattr(opening, "_open_semantic", nothing)
    async with running_gateway(tmp_path, SEMANTIC) as gateway:
        await until(lambda: bool(gateway.services.caches.semantics.trouble))
        reply = await gateway.client.get("/readyz")
        assert (reply.status_code, reply.json()["status"]) == (200, "ready")
        assert "sluicegate[semantic]" in reply.json()["unavailable"]["semantic cache"]
        assert (await gateway.chat(await gateway.key())).status_code == 200
