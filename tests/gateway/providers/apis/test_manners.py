"""Those who speak the OpenAI API, each in its own way."""

from typing import Any

import pytest

from gateway.providers.apis.manners import FOLLOWING, MISTRAL, OPENAI, OWN, THINKING, Manners, manners_of
from gateway.providers.apis.openai import OpenAIApi
from gateway.providers.upstream import Call
from governance.confinement.confined import UNCONFINED

BODY: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "seed": 7, "user": "u1"}


def said(manners: Manners) -> dict[str, Any]:
    return OpenAIApi(None, manners).chat(Call(body=BODY, confined=UNCONFINED, max_tokens=9, tenant="red/bot")).body


@pytest.mark.parametrize(
    ("host", "manners"),
    [
        ("api.openai.com", OPENAI),
        ("my-resource.openai.azure.com", OPENAI),
        ("my-resource.services.ai.azure.com", OPENAI),
        ("api.mistral.ai", MISTRAL),
        ("api.groq.com", FOLLOWING),
        ("api.deepseek.com", THINKING),
        ("api.together.xyz", Manners()),
        ("evil-api.openai.com", Manners()),
        (None, Manners()),
    ],
)
def test_a_host_is_known_by_its_whole_name(host: str | None, manners: Manners) -> None:
    assert manners_of(host) == manners


def test_every_answer_is_bounded_in_the_field_that_is_obeyed() -> None:
    assert said(OPENAI)["max_completion_tokens"] == 9
    assert said(Manners())["max_tokens"] == 9
    assert said(OWN)["max_completion_tokens"] == 9


def test_mistral_is_sent_nothing_that_it_refuses() -> None:
    assert said(MISTRAL) == {
        "model": "m", "messages": BODY["messages"], "random_seed": 7, "max_tokens": 9, "stream": True,
    }  # fmt: skip


def test_our_own_machines_part_their_caches_by_tenant_and_tell_usage_as_they_go() -> None:
    assert said(OWN)["cache_salt"] == "red/bot|"
    assert said(OWN)["stream_options"] == {"include_usage": True, "continuous_usage_stats": True}
