"""Faults that others have published about secrets and about who pays; each test is named for what is right."""

from pathlib import Path
from typing import Final

import pytest

from tests.support.polyglot import DIALECTS, PATHS, SELLERS_KEY, Polyglot, polyglot
from tests.support.providers.script import Script

PROMPT: Final = "the-words-of-a-prompt"


def secret(key: str) -> str:
    return key.rsplit("-", 1)[1]


@pytest.mark.parametrize("model", DIALECTS)
async def test_a_provider_sees_its_own_key_and_nothing_of_our_client(shop: Polyglot, model: str) -> None:
    """BerriAI/litellm 32202, 12090: the client's Authorization is passed on; 37905: its token goes to Bedrock."""
    body = {"model": model, **PATHS["/v1/chat/completions"]}
    told = {"cookie": "a=b", "x-forwarded-for": "10.0.0.1", "x-sluice-session": "s-1"}
    for name in ("authorization", "x-api-key", "api-key", "x-goog-api-key"):
        headers = told | {name: f"Bearer {shop.key}" if name == "authorization" else shop.key}
        reply = await shop.gateway.client.post("/v1/chat/completions", json=body, headers=headers)
        sent = shop.fake.last

        assert reply.status_code == 200, name
        assert secret(shop.key) not in str((sent.headers, sent.body, sent.path)), name
        assert SELLERS_KEY in str(sent.headers), name
        assert SELLERS_KEY not in sent.path, name
        assert not set(told) & set(sent.headers), name


async def test_no_secret_is_in_what_is_logged_told_measured_or_kept(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """BerriAI/litellm 39964, 15799, 8075: keys are in URLs, tracebacks and logs; 5762, 31620: raw keys are kept."""
    told: list[bytes] = []
    async with polyglot(tmp_path, stores={"log_level": "debug"}) as shop:
        wrongs = [
            Script(),
            Script(status=401, error=("invalid_api_key", f"Incorrect API key provided: {SELLERS_KEY}.")),
            Script(status=500),
            Script(body=b'{"id":'),
            Script(cut_after=1),
            Script(hang_up=True),
        ]
        for model in DIALECTS:
            for script in wrongs:
                shop.fake.script = script
                reply = await shop.ask(model, messages=[{"role": "user", "content": PROMPT}], stream=True)
                told.append(reply.content + str(reply.headers).encode())
        await shop.gateway.rows(len(told))
        told.append((await shop.gateway.client.get("/metrics")).content)
        client = secret(shop.key)
    output = capfdbinary.readouterr()
    kept = [file.read_bytes() for file in (tmp_path / "home").rglob("*") if file.is_file()]

    assert output.err
    for text in (*told, output.out, output.err, *kept):
        assert client.encode() not in text
        assert SELLERS_KEY.encode() not in text
        assert PROMPT.encode() not in text


async def test_a_refusal_for_want_of_budget_names_the_budget_and_no_key(tmp_path: Path) -> None:
    """BerriAI/litellm 30670: it holds the virtual key in plain text; aisix 433: it does not say which budget."""
    teams = [{"name": "blue", "apps": [{"name": "bot", "budgets": [{"limit": 0.0001, "window": "day"}]}]}]
    async with polyglot(tmp_path, teams=teams) as shop:
        for path in PATHS:
            reply = await shop.ask("chat", path)
            error = reply.json()["error"]
            told = error.get("details", error)

            assert (reply.status_code, reply.headers["x-should-retry"]) == (429, "false"), path
            assert {"scope", "limit_usd", "spent_usd", "held_usd", "window", "resets_at"} <= set(told), path
            assert secret(shop.key) not in reply.text + str(reply.headers)
        assert shop.fake.served == []


@pytest.mark.parametrize("path", PATHS)
async def test_no_caller_can_move_its_cost_to_another(shop: Polyglot, path: str) -> None:
    """BerriAI/litellm 32779, 17088: whoever names a customer in a header charges that customer."""
    headers = {"x-sluice-team": "red", "x-sluice-app": "other", "x-litellm-customer-id": "red"}
    reply = await shop.ask("chat", path, headers=headers, metadata={"team": "red", "app": "other"})
    row = (await shop.booked(reply)).request

    assert reply.status_code == 200, reply.text
    assert (row.team, row.app) == ("blue", "bot")
