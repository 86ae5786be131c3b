"""The other paths: embeddings, models, usage, health, metrics, the dashboard's door."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from openai import AsyncOpenAI

from tests.support.running_gateway import POLICY, RunningGateway, running_gateway


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncGenerator[RunningGateway]:
    async with running_gateway(tmp_path) as running:
        yield running


async def test_the_official_sdk_gets_embeddings_and_they_are_paid_for(gateway: RunningGateway) -> None:
    sdk = AsyncOpenAI(base_url=gateway.base_url, api_key=await gateway.key())
    reply = await sdk.embeddings.create(model="minilm", input="hello", encoding_format="float")
    again = await sdk.embeddings.with_raw_response.create(model="minilm", input="hello", encoding_format="float")
    await sdk.close()

    assert reply.data[0].embedding == [0.6, 0.8]
    assert again.headers["x-sluice-cache"] == "exact"
    newest, first = await gateway.rows(2)
    assert (first.endpoint, first.input_tokens, first.cost.usd) == ("embeddings", 5, "0.0000005")
    assert newest.saved == first.cost


async def test_models_are_those_the_caller_may_use(gateway: RunningGateway) -> None:
    red = await gateway.client.get("/v1/models", headers={"x-api-key": await gateway.key("red")})
    blue = await gateway.client.get("/v1/models", headers={"x-api-key": await gateway.key("blue")})
    one = await gateway.client.get("/v1/models/auto", headers={"x-api-key": await gateway.key("red")})
    other = await gateway.client.get("/v1/models/dear", headers={"x-api-key": await gateway.key("red")})

    assert [model["id"] for model in red.json()["data"]] == ["auto", "small", "minilm"]
    assert [model["id"] for model in blue.json()["data"]] == ["auto", "small", "minilm", "dear"]
    assert one.json()["id"] == "auto"
    assert (other.status_code, other.json()["error"]["code"]) == (404, "model_not_found")


async def test_usage_needs_a_key(gateway: RunningGateway) -> None:
    reply = await gateway.client.get("/v1/usage")

    assert (reply.status_code, reply.json()["error"]["code"]) == (401, "invalid_api_key")


async def test_readiness_tells_the_truth(gateway: RunningGateway) -> None:
    ready = await gateway.client.get("/readyz")
    version = gateway.services.in_force.governed.policy.version
    assert ready.json() == {
        "status": "ready",
        "reasons": [],
        "unavailable": {},
        "unavailable_models": {},
        "policy": {"version": version, "trouble": None},
    }
    gateway.upstream.healthy = False
    await gateway.services.in_force.governed.catalogue.upstream(
        gateway.services.in_force.governed.catalogue.models["small"]
    ).refresh()

    down = await gateway.client.get("/readyz")

    assert down.json()["unavailable"] == {"engine": "answers 503 to a health check"}
    waits = "waits for provider 'engine'"
    assert down.json()["unavailable_models"] == {"small": waits, "minilm": waits, "dear": waits}
    assert (await gateway.client.get("/healthz")).status_code == 200


async def test_a_model_that_its_provider_does_not_serve_yet_is_named_and_told_to_callers(
    gateway: RunningGateway,
) -> None:
    catalogue = gateway.services.in_force.governed.catalogue
    gateway.upstream.rates = {}
    await catalogue.upstream(catalogue.models["small"]).refresh()
    unmeasured = (await gateway.client.get("/readyz")).json()
    gateway.upstream.served = ("another",)
    await catalogue.upstream(catalogue.models["small"]).refresh()
    loading = (await gateway.client.get("/readyz")).json()
    refused = await gateway.chat(await gateway.key(), model="small")

    assert unmeasured["unavailable_models"]["small"] == "has no measured price yet"
    assert loading["unavailable_models"]["minilm"] == "is still loading"
    assert refused.status_code == 503
    assert refused.json()["error"]["message"] == 'No model of "small" can be called now: "small" is still loading.'


async def test_the_root_leads_to_the_dashboard(gateway: RunningGateway) -> None:
    reply = await gateway.client.get("/")

    assert (reply.status_code, reply.headers["location"]) == (303, "/admin")


async def test_a_provider_without_its_key_is_named_and_all_else_serves(tmp_path: Path) -> None:
    cloud = {"kind": "openai", "zone": "cloud", "base_url": "http://127.0.0.1:9/v1", "api_key": "${NO_SUCH_KEY}"}
    model = {"name": "far", "provider": "cloud", "model": "far", "tier": "cloud", "price": {"input": 1, "output": 1}}
    document = POLICY | {
        "providers": POLICY["providers"] | {"cloud": cloud},
        "models": [*POLICY["models"], model],
    }
    async with running_gateway(tmp_path, document) as gateway:
        key = await gateway.key("blue")

        assert (await gateway.client.get("/readyz")).json()["unavailable"] == {"cloud": "NO_SUCH_KEY is not set"}
        assert (await gateway.chat(key)).status_code == 200
        assert (await gateway.chat(key, model="far")).status_code == 503


async def test_metrics_count_requests_and_money(gateway: RunningGateway) -> None:
    key = await gateway.key()
    await gateway.chat(key)
    await gateway.chat(key, model="nonsense-from-a-caller")

    page = (await gateway.client.get("/metrics")).text

    assert 'sluice_requests_total{app="bot",cache="miss",code="ok",model="small",team="red"} 1.0' in page
    assert 'sluice_provider_available{provider="engine"} 1.0' in page
    assert "nonsense-from-a-caller" not in page
    assert key not in page


async def test_the_dashboard_asks_for_the_admin_key(gateway: RunningGateway) -> None:
    reply = await gateway.client.get("/admin")

    assert reply.status_code == 303
    assert reply.headers["location"] == "/admin/sign-in"


async def test_a_user_that_the_policy_hashes_is_hashed_for_the_provider_of_embeddings_too(tmp_path: Path) -> None:
    teams = [{"name": "red", "hash_user": True, "apps": [{"name": "bot"}]}]
    async with running_gateway(tmp_path, POLICY | {"teams": teams}) as gateway:
        headers = {"x-api-key": await gateway.key()}
        await gateway.client.post(
            "/v1/embeddings", headers=headers, json={"model": "minilm", "input": "x", "user": "a"}
        )

        assert gateway.upstream.bodies[-1]["user"].startswith("sha256:")


async def test_a_measured_price_that_cannot_be_meant_makes_a_model_unavailable_and_not_free(
    gateway: RunningGateway,
) -> None:
    gateway.upstream.rates = {"prefill_tokens_per_second": 1e-200, "decode_tokens_per_second": 1e-200}
    for upstream in gateway.services.in_force.governed.catalogue._upstreams.values():
        await upstream.refresh()
    reply = await gateway.chat(await gateway.key())

    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "overloaded")
    assert gateway.upstream.bodies == []


async def test_embeddings_whose_provider_counts_nothing_say_what_they_were_booked_at(gateway: RunningGateway) -> None:
    gateway.upstream.script.usage = False
    asked = {"model": "minilm", "input": "hello"}
    reply = await gateway.client.post("/v1/embeddings", headers={"x-api-key": await gateway.key()}, json=asked)
    (row,) = await gateway.rows(1)

    assert row.estimated
    assert reply.json()["usage"] == {"prompt_tokens": row.input_tokens, "total_tokens": row.input_tokens}
