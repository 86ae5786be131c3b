"""An embeddings request is made again as a chat is, but never of another model."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.scripted_upstream import Script
from tests.support.three_providers import ThreeProviders, three_providers

VECTORS = {"provider": "one", "tier": "local", "kind": "embedding", "model": "v-1", "price": {"input": 1}}
MODELS: list[dict[str, Any]] = [
    VECTORS | {"name": "vectors"},
    VECTORS | {"name": "vectors-two", "provider": "two", "same_as": "vectors"},
    VECTORS | {"name": "others", "provider": "two", "model": "w-1"},
]


async def embed(at: ThreeProviders, model: str) -> httpx.Response:
    return await at.gateway.client.post(
        "/v1/embeddings", json={"model": model, "input": "text"}, headers={"authorization": f"Bearer {at.key}"}
    )


@pytest.mark.parametrize("model", ["vectors", "route"])
async def test_another_deployment_answers_and_no_other_model(tmp_path: Path, model: str) -> None:
    routes = [{"name": "route", "weak": "vectors", "strong": "others"}]
    async with three_providers(tmp_path, models=MODELS, routes=routes) as at:
        at.one.script = Script(status=500)
        reply = await embed(at, model)
        at.two.script = Script(status=500)
        failed = await embed(at, model)

        assert (reply.status_code, reply.headers["x-sluice-model"]) == (200, "vectors-two")
        assert (failed.status_code, at.calls) == (502, (0, 2, 2))
        row, attempts = await at.told(2)
        assert [(made.model, made.purpose, made.outcome) for made in attempts] == [
            ("vectors", "embedding", "failed"),
            ("vectors-two", "embedding", "failed"),
        ]
        assert (row.attempts, row.cost.usd) == (2, "0.00")
