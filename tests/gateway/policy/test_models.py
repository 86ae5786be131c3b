"""What a policy may say of a provider, beyond what its fields say by themselves."""

from datetime import UTC, datetime
from typing import Any

import pytest
import yaml

from gateway.policy.models import BedrockProvider
from gateway.policy.problems import PolicyInvalid
from gateway.policy.source import LoadedPolicy, parse_policy
from governance.money import Nanodollars
from tests.support.running_gateway import POLICY

CLAUDE = "eu.anthropic.claude-opus-4-1-20250805-v1:0"


def read(env: dict[str, str], **fields: Any) -> LoadedPolicy:
    aws = {"kind": "bedrock", "zone": "cloud", "region": "eu-central-1"} | fields
    model = {"name": "claude", "provider": "aws", "model": CLAUDE, "tier": "cloud", "price": "list"}
    document = POLICY | {"providers": POLICY["providers"] | {"aws": aws}, "models": [*POLICY["models"], model]}
    return parse_policy(yaml.safe_dump(document), "test", env, datetime(2026, 11, 30, tzinfo=UTC))


def provider(policy: LoadedPolicy) -> BedrockProvider:
    found = policy.document.providers["aws"]
    assert isinstance(found, BedrockProvider)
    return found


def test_bedrock_is_at_the_address_of_its_region_and_has_a_price_book() -> None:
    policy = read({}, api_key="k")

    assert provider(policy).address == "https://bedrock-runtime.eu-central-1.amazonaws.com"
    assert policy.prices["claude"].output == Nanodollars(75_000_000_000)


def test_an_address_within_amazon_has_the_same_prices_and_another_one_none() -> None:
    private = "https://vpce-1.bedrock-runtime.eu-central-1.vpce.amazonaws.com"
    policy = read({}, api_key="k", base_url=private)
    assert provider(policy).address == f"{private}/"
    assert "claude" in policy.prices

    assert "claude" in read({}, api_key="k", base_url="https://resold.example.com").unpriced


def test_bedrock_may_give_a_discount() -> None:
    assert read({}, api_key="k", discount="20%").prices["claude"].output == Nanodollars(60_000_000_000)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"session_token": "t"},
        {"access_key_id": "a"},
        {"secret_access_key": "s"},
        {"api_key": "k", "access_key_id": "a", "secret_access_key": "s"},
    ],
)
def test_bedrock_wants_a_key_or_what_signs_and_not_both(fields: dict[str, str]) -> None:
    with pytest.raises(PolicyInvalid, match='needs either an "api_key", or an "access_key_id"'):
        read({}, **fields)


def test_bedrock_without_its_secrets_in_the_environment_is_unavailable_and_not_wrong() -> None:
    names = {"access_key_id": "${AWS_ID}", "secret_access_key": "${AWS_SECRET}", "session_token": "${AWS_TOKEN}"}

    policy = read({"AWS_ID": "a"}, **names)
    assert policy.unavailable == {"aws": "AWS_SECRET is not set; AWS_TOKEN is not set"}
    token = provider(read({"AWS_ID": "a", "AWS_SECRET": "s", "AWS_TOKEN": "t"}, **names)).session_token
    assert token is not None
    assert token.get_secret_value() == "t"


@pytest.mark.parametrize("region", ["", "Frankfurt", "eu-central-1.evil.example", "eu-central-1/"])
def test_a_region_is_one_of_amazons_form(region: str) -> None:
    with pytest.raises(PolicyInvalid, match="region"):
        read({}, api_key="k", region=region)
