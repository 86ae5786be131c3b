"""A policy's text is shown as it was written, and its secrets are not."""

import pytest

from gateway.policy.history.masking import masked, secrets_in
from tests.support.policy_texts import SMALL

SECRET = "sk-written-out-0123456789"
CLOUD = "  cloud: {{kind: openai, zone: cloud, {}}}\n"


def with_cloud(fields: str) -> str:
    return SMALL.replace("tiers: [local, cloud]", f"{CLOUD.format(fields)}tiers: [local, cloud]")


@pytest.mark.parametrize("text", [SMALL, with_cloud("api_key: '${OPENAI_API_KEY}'")])
def test_a_text_that_only_names_its_secrets_is_shown_as_it_is(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize(
    "field",
    [
        f"api_key: {SECRET}",
        f'api_key: "{SECRET}"',
        f"api_key: &key {SECRET}",
        f"secret_access_key: {SECRET}",
        f"session_token: {SECRET}",
    ],
)
def test_a_key_that_is_written_out_is_masked_wherever_it_stands(field: str) -> None:
    shown = masked(f"{with_cloud(field)}# was {SECRET} once\n")
    assert SECRET not in shown
    assert "kind: openai" in shown


def test_an_address_with_a_password_is_a_secret_and_another_is_not() -> None:
    assert SECRET not in masked(with_cloud(f"base_url: 'https://u:{SECRET}@example.com/v1'"))
    plain = with_cloud("base_url: 'https://example.com/v1'")
    assert masked(plain) == plain


def test_an_address_of_alerts_is_a_secret() -> None:
    shown = masked(f"{SMALL}alerts: {{webhook: 'https://hooks.slack.com/{SECRET}'}}\n")
    assert SECRET not in shown
    assert "alerts: {webhook: '********'}" in shown


def test_a_text_whose_secret_cannot_be_told_from_the_rest_is_not_shown() -> None:
    hidden = with_cloud('api_key: "sk-\\x77ritten-out-0123456789"')
    assert list(secrets_in(hidden)) == [SECRET]
    assert masked(hidden) == "# This policy has a secret in it that cannot be told from the rest; it is not shown.\n"


def test_what_is_no_policy_is_shown_as_it_is() -> None:
    assert masked("teams: [") == "teams: ["
