"""Faults that others have published about ways past a budget; each test is named for what is right."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, Final

import anthropic
import openai
import pytest

from governance.money import Nanodollars
from tests.support.polyglot import DIALECTS, PATHS, Polyglot, polyglot
from tests.support.providers.answer import Answer
from tests.support.providers.gateways import cost
from tests.support.providers.script import Script

CAP: Final = Nanodollars.parse("0.02")
SAID: Final[Any] = [{"role": "user", "content": "Hi"}]


@pytest.fixture
async def poor(tmp_path: Path) -> AsyncGenerator[Polyglot]:
    """Give a gateway whose caller may spend two cents a day."""
    teams = [{"name": "blue", "apps": [{"name": "bot", "budgets": [{"limit": 0.02, "window": "day"}]}]}]
    async with polyglot(tmp_path, teams=teams) as running, running.audited():
        yield running


async def spend_all(poor: Polyglot) -> int:
    """Ask in every dialect at once until nothing more is admitted, and return how many were."""
    poor.fake.script = Script(answer=Answer(texts=("a",) * 64))
    asked = [(model, path) for model in DIALECTS for path in PATHS] * 2
    replies = await asyncio.gather(*(poor.ask(model, path) for model, path in asked))
    assert {reply.status_code for reply in replies} == {200, 429}
    while (await poor.ask("chat")).status_code == 200:
        pass
    return len(poor.fake.served)


async def test_no_more_is_bought_than_the_budget_allows_by_the_providers_own_count(poor: Polyglot) -> None:
    """BerriAI/litellm 34732, 26672, 23714: calls that are made side by side all pass."""
    await spend_all(poor)
    truth = sum(cost(used).nanos for used in poor.fake.tokens)

    assert CAP.nanos // 2 < truth <= CAP.nanos
    assert (await poor.spent()).nanos == truth


async def test_clients_do_not_ask_again_when_the_budget_is_used_up(poor: Polyglot) -> None:
    """puffo-agent 327, cognee 4321, BerriAI/litellm 14144: the refusal looks as if it would pass, and is retried."""
    admitted = await spend_all(poor)
    before = len(await poor.gateway.rows())
    async with poor.openai() as sdk, poor.anthropic() as other:
        with pytest.raises(openai.RateLimitError):
            await sdk.chat.completions.create(model="chat", messages=SAID)
        with pytest.raises(anthropic.RateLimitError):
            await other.messages.create(model="messages", messages=SAID, max_tokens=64)

    assert len(await poor.gateway.rows(before + 2)) == before + 2
    assert len(poor.fake.served) == admitted


async def test_no_header_and_no_other_key_is_a_way_around_the_budget(poor: Polyglot, tmp_path: Path) -> None:
    """BerriAI/litellm 11083: an identity in a header skips the check; freehire 1386: so does the master key."""
    admitted = await spend_all(poor)
    admin = (tmp_path / "home" / "admin.key").read_text().strip()
    asked = {"model": "chat", **PATHS["/v1/chat/completions"], "user": "somebody"}
    for name in ("authorization", "x-api-key", "api-key", "x-goog-api-key"):
        for key, status in ((poor.key, 429), (admin, 401)):
            told = f"Bearer {key}" if name == "authorization" else key
            headers = {name: told, "x-litellm-end-user-id": "somebody", "x-sluice-session": "new"}
            reply = await poor.gateway.client.post("/v1/chat/completions", json=asked, headers=headers)
            assert reply.status_code == status, name

    assert len(poor.fake.served) == admitted
