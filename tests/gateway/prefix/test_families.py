"""What each kind of provider keeps of a prompt."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from gateway.policy.models import Provider
from gateway.prefix.families import AUTOMATIC, KEYED, NOVA, Family, families_of

SOLD = {"zone": "cloud", "api_key": "k"}
ANTHROPIC = SOLD | {"kind": "anthropic"}
BEDROCK = SOLD | {"kind": "bedrock", "region": "eu-central-1"}


def family(section: dict[str, Any], model: str) -> Family | None:
    provider: Provider = TypeAdapter[Provider](Provider).validate_python(section)
    return families_of(provider)(model)


@pytest.mark.parametrize(
    ("model", "least"),
    [
        ("claude-opus-4-6", 4096),
        ("claude-opus-4-5-20251101", 4096),
        ("claude-opus-4-1", 1024),
        ("claude-opus-4-20250514", 1024),
        ("claude-sonnet-4-6", 2048),
        ("claude-sonnet-4-5", 1024),
        ("claude-sonnet-4-20250514", 1024),
        ("claude-3-7-sonnet-latest", 1024),
        ("claude-haiku-4-5", 4096),
        ("claude-3-5-haiku-latest", 2048),
        ("claude-3-haiku-20240307", 2048),
        ("claude-opus-9", 4096),
    ],
)
def test_a_model_of_claude_keeps_prefixes_from_a_length_of_its_own(model: str, least: int) -> None:
    assert family(ANTHROPIC, model) == Family(least_tokens=least, marked=True, hour=True)


def test_bedrock_keeps_what_is_marked_for_claude_and_for_nova_without_tools() -> None:
    claude = family(BEDROCK, "eu.anthropic.claude-sonnet-4-5-20250929-v1:0")
    assert claude == Family(least_tokens=1024, marked=True)
    assert family(BEDROCK, "amazon.nova-pro-v1:0") == NOVA
    assert family(BEDROCK, "meta.llama3-3-70b-instruct-v1:0") is None


def test_openai_is_told_what_requests_share_and_those_who_speak_its_api_are_not() -> None:
    openai = SOLD | {"kind": "openai"}
    assert family(openai, "gpt-5") == KEYED
    assert family(openai | {"api": "responses"}, "gpt-5") == KEYED
    assert family(openai | {"base_url": "https://api.groq.com/openai/v1"}, "llama") == AUTOMATIC
    assert family(SOLD | {"kind": "gemini"}, "gemini-3-pro") == AUTOMATIC
    assert family({"kind": "engine"}, "smollm2") == AUTOMATIC
