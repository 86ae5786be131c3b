"""Faults that others have published about caches of answers; each test is named for what is right."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any, Final

import pytest

from tests.support.polyglot import DIALECTS, PATHS, Polyglot, polyglot
from tests.support.providers.script import Script

TOOL: Final = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}


@pytest.fixture(scope="module")
async def caching(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Polyglot]:
    cache = {"exact": {"ttl": "1h", "shared_by": "app"}}
    async with polyglot(tmp_path_factory.mktemp("cached"), cache=cache) as running:
        yield running


@pytest.fixture
def shop(caching: Polyglot) -> Polyglot:
    caching.fake.script = Script()
    caching.fake.served.clear()
    return caching


def said(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


@pytest.mark.parametrize("path", PATHS)
async def test_no_tenant_is_given_what_was_made_for_another(shop: Polyglot, path: str) -> None:
    """Portkey-AI/gateway, maximhq/bifrost 5769, 6101: no tenant is in the key, or a caller can choose another's."""
    other = replace(shop, key=await shop.gateway.key("red"))
    headers = {"x-sluice-team": "blue", "x-sluice-app": "bot"}
    replies = [await shop.ask("small", path), await other.ask("small", path, headers=headers)]
    again = await shop.ask("small", path)

    assert [reply.headers["x-sluice-cache"] for reply in (*replies, again)] == ["miss", "miss", "exact"]


@pytest.mark.parametrize("model", DIALECTS)
async def test_the_same_last_word_of_two_conversations_has_two_answers(shop: Polyglot, model: str) -> None:
    """higress-group/higress: the key is the last turn alone, and one `yes` is answered like another."""
    for first in ("Shall I delete it?", "Shall I keep it?"):
        told = [*said("Hi"), {"role": "assistant", "content": first}, *said("yes")]
        await shop.ask(model, messages=told)

    assert len(shop.fake.served) == 2


@pytest.mark.parametrize("more", [
    {"tools": [TOOL]},
    {"tools": [TOOL], "tool_choice": "none"},
    {"response_format": {"type": "json_object"}},
    {"seed": 7},
    {"temperature": 0.5},
    {"max_tokens": 63},
    {"messages": [{"role": "system", "content": "Be brief."}, *said("Hi")]},
], ids=str)  # fmt: skip
async def test_whatever_changes_the_answer_changes_the_key(shop: Polyglot, more: dict[str, Any]) -> None:
    """autogen 8211, 7968, agno 10138, NadirClaw 90, headroom 1473: the key leaves out tools, formats, seeds, system."""
    await shop.ask("chat")
    before = len(shop.fake.served)
    reply = await shop.ask("chat", **more)
    again = await shop.ask("chat", **more)

    assert (reply.headers["x-sluice-cache"], again.headers["x-sluice-cache"]) == ("miss", "exact")
    assert len(shop.fake.served) == before + 1


async def test_the_order_of_fields_changes_no_key(shop: Polyglot) -> None:
    """maximhq/bifrost 2791: the hash depends on it, and nothing is ever found."""
    body = {"temperature": 0.25, "model": "chat", "messages": said("in order"), "max_tokens": 9}
    headers = {"x-api-key": shop.key}
    for asked in (body, dict(reversed(body.items()))):
        reply = await shop.gateway.client.post("/v1/chat/completions", json=asked, headers=headers)

    assert reply.headers["x-sluice-cache"] == "exact"


@pytest.mark.parametrize("model", DIALECTS)
async def test_an_answer_from_the_cache_is_a_stream_for_who_asks_for_one_and_costs_nothing(
    shop: Polyglot, model: str
) -> None:
    """Portkey-AI/gateway: streams are not cached at all."""
    await shop.ask(model, messages=said("stream me"))
    reply = await shop.ask(model, messages=said("stream me"), stream=True)
    found = await shop.booked(reply)

    assert (reply.headers["x-sluice-cache"], reply.text.endswith("data: [DONE]\n\n")) == ("exact", True)
    assert (found.request.cost.nanos, found.attempts, len(shop.fake.served)) == (0, (), 1)
