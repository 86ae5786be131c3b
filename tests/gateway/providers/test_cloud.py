"""A second provider that speaks the OpenAI API over TCP: the cloud's habits differ from our own machines'."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.running_gateway import POLICY, RunningGateway, running_gateway
from tests.support.scripted_upstream import ScriptedUpstream, serve


@dataclass(frozen=True)
class WithCloud:
    """A gateway and its second provider."""

    gateway: RunningGateway
    cloud: ScriptedUpstream


@pytest.fixture
async def both(tmp_path: Path) -> AsyncGenerator[WithCloud]:
    cloud = ScriptedUpstream()
    async with serve(cloud.app()) as port:
        provider = {
            "kind": "openai", "zone": "cloud", "base_url": f"http://127.0.0.1:{port}/v1", "api_key": "${CLOUD_KEY}",
        }  # fmt: skip
        model = {"name": "far", "provider": "cloud", "model": "far-1", "tier": "cloud",
                 "price": {"input": 3, "cached_input": 0.3, "output": 15}}  # fmt: skip
        document = POLICY | {
            "providers": POLICY["providers"] | {"cloud": provider},
            "models": [*POLICY["models"], model],
            "baseline": "far",
            "cache": {},
        }
        async with running_gateway(tmp_path, document, CLOUD_KEY="sk-cloud-secret") as gateway:
            yield WithCloud(gateway, cloud)


async def test_it_is_called_with_its_own_key_and_name_and_a_bound(both: WithCloud) -> None:
    reply = await both.gateway.chat(await both.gateway.key("blue"), model="far")

    assert reply.status_code == 200
    assert both.cloud.headers[0]["authorization"] == "Bearer sk-cloud-secret"
    body = both.cloud.bodies[0]
    assert (body["model"], body["max_tokens"], body["stream_options"]) == ("far-1", 64, {"include_usage": True})
    assert "cache_salt" not in body


async def test_cached_input_is_paid_for_once_and_at_its_own_rate(both: WithCloud) -> None:
    both.cloud.script.prompt_tokens, both.cloud.script.cached_tokens = 12, 8

    reply = await both.gateway.chat(await both.gateway.key("blue"), model="far")

    # 4 fresh at 3 USD, 8 cached at 0.3 USD, 4 out at 15 USD, each per million.
    assert reply.headers["x-sluice-cost-usd"] == "0.0000744"


async def test_what_a_cheaper_model_spares_is_counted_against_the_baseline(both: WithCloud) -> None:
    reply = await both.gateway.chat(await both.gateway.key("blue"), model="auto")

    # 12 in at 3 USD and 4 out at 15 USD, less the 0.0000092 USD it cost here.
    assert reply.headers["x-sluice-saved-usd"] == "0.0000868"


@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_whose_client_has_left_is_read_to_its_end_and_paid_in_full(
    both: WithCloud, stream: bool
) -> None:
    both.cloud.script.gate = asyncio.Event()
    key = await both.gateway.key("blue")
    pending = asyncio.create_task(both.gateway.chat(key, model="far", stream=stream))
    await both.cloud.until(lambda: both.cloud.pieces_sent == 1)
    pending.cancel()
    await asyncio.gather(pending, return_exceptions=True)
    while both.cloud.finished == 0:
        both.cloud.script.gate.set()
        await asyncio.sleep(0)

    (row,) = await both.gateway.rows(1)
    assert (row.outcome, row.output_tokens, row.estimated) == ("left", 4, False)
    assert both.cloud.abandoned == 0


async def test_a_zone_refuses_what_only_the_cloud_could_answer(both: WithCloud) -> None:
    reply = await both.gateway.chat(await both.gateway.key("blue"), model="far", headers={"x-sluice-zone": "onprem"})

    assert (reply.status_code, reply.json()["error"]["code"]) == (403, "zone_refused")
    assert both.cloud.bodies == []


async def test_a_provider_that_is_gone_is_a_502(both: WithCloud) -> None:
    both.cloud.script.raw = b""

    reply = await both.gateway.chat(await both.gateway.key("blue"), model="far")

    assert (reply.status_code, reply.json()["error"]["code"]) == (502, "upstream_error")


@pytest.mark.parametrize("stream", [True, False])
async def test_a_cloud_call_that_times_out_is_paid_for_by_a_marked_estimate(both: WithCloud, stream: bool) -> None:
    both.cloud.script.silent = asyncio.Event()

    reply = await both.gateway.chat(
        await both.gateway.key("blue"), model="far", stream=stream, headers={"x-sluice-timeout-ms": "100"}
    )

    assert (reply.status_code, reply.json()["error"]["code"]) == (504, "upstream_timeout")
    (row,) = await both.gateway.rows(1)
    assert (row.outcome, row.estimated) == ("failed", True)
    assert row.cost.nanos > 0


async def test_a_cloud_that_refuses_or_cannot_be_reached_is_not_paid(both: WithCloud) -> None:
    key = await both.gateway.key("blue")
    both.cloud.script.status = 500
    await both.gateway.chat(key, model="far")

    (row,) = await both.gateway.rows(1)
    assert (row.cost.usd, row.attempts) == ("0.00", 1)


async def test_whichever_name_the_caller_gave_the_bound_the_provider_gets_the_one_it_obeys(both: WithCloud) -> None:
    await both.gateway.chat(await both.gateway.key("blue"), model="far", max_completion_tokens=7)

    body = both.cloud.bodies[0]
    assert body["max_tokens"] == 7
    assert "max_completion_tokens" not in body
