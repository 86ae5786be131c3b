"""Providers shared by the policies that need them."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.operations.logs import open_log
from gateway.policy.document import Policy
from gateway.policy.source import parse_policy
from gateway.providers.pool import Lease, Providers
from gateway.providers.upstream import Upstream
from tests.support.running_gateway import POLICY, policy
from tests.support.scripted_upstream import ScriptedUpstream, serve

CLOUD = {"kind": "openai", "zone": "cloud", "base_url": "http://127.0.0.1:9/v1"}


@pytest.fixture
async def providers(tmp_path: Path) -> AsyncGenerator[Providers]:
    socket = tmp_path / "up.sock"
    async with serve(ScriptedUpstream().app(), uds=socket), Providers(f"unix:{socket}", open_log("error")) as pool:
        yield pool


def document(sections: dict[str, Any]) -> Policy:
    return parse_policy(yaml.safe_dump(policy(providers=sections)), "test", {}, datetime.now(UTC)).document


async def lease(pool: Providers, *, absent: str = "", **sections: dict[str, Any]) -> Lease:
    return await pool.lease(document(sections), {"cloud": absent} if absent else {}, 10)


def is_open(upstream: Upstream) -> bool:
    return not upstream._client.is_closed  # pyright: ignore[reportAttributeAccessIssue]


async def test_a_provider_is_known_before_its_policy_governs(providers: Providers) -> None:
    assert (await lease(providers, **POLICY["providers"])).upstreams["engine"].status.available


async def test_policies_that_say_the_same_of_a_provider_share_it_until_the_last_one_ends(
    providers: Providers,
) -> None:
    dearer = POLICY["providers"]["engine"] | {"machine_usd_per_hour": 9}
    first = await lease(providers, cloud=CLOUD, **POLICY["providers"])
    second = await lease(providers, cloud=CLOUD, engine=dearer)
    assert first.upstreams == second.upstreams
    cloud = first.upstreams["cloud"]
    await providers.end(first)
    assert is_open(cloud)
    await providers.end(second)
    assert not is_open(cloud)


@pytest.mark.parametrize("change", [{"base_url": "http://127.0.0.1:8/v1"}, {"zone": "eu"}, {"api_key": "sk-other"}])
async def test_a_provider_that_became_another_is_opened_anew(providers: Providers, change: dict[str, str]) -> None:
    first = await lease(providers, cloud=CLOUD, **POLICY["providers"])
    second = await lease(providers, cloud=CLOUD | change, **POLICY["providers"])
    assert second.upstreams["engine"] is first.upstreams["engine"]
    assert second.upstreams["cloud"] is not first.upstreams["cloud"]


async def test_a_provider_without_its_key_is_absent_until_a_policy_has_it(providers: Providers) -> None:
    absent = await lease(providers, cloud=CLOUD, absent="KEY is not set", **POLICY["providers"])
    assert absent.upstreams["cloud"].status.reason == "KEY is not set"
    assert (await lease(providers, cloud=CLOUD, **POLICY["providers"])).upstreams["cloud"].status.available


async def test_a_silent_provider_does_not_keep_a_policy_waiting(providers: Providers, tmp_path: Path) -> None:
    vllm = {"kind": "vllm", "zone": "onprem", "base_url": "http://127.0.0.1:9/v1"}
    found = await providers.lease(document({"vllm": vllm, **POLICY["providers"]}), {}, 0)
    assert not found.upstreams["vllm"].status.available


async def test_bedrock_without_its_library_is_absent_and_says_what_to_install(
    providers: Providers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.providers.kinds.find_spec", lambda _: None)
    aws = {"kind": "bedrock", "zone": "cloud", "region": "eu-central-1", "api_key": "k"}

    upstream = (await lease(providers, aws=aws, **POLICY["providers"])).upstreams["aws"]

    assert not upstream.status.available
    assert "sluicegate[bedrock]" in upstream.status.reason
