"""Providers' caches of prompts: what is sent to each, what it costs to the nano-dollar, and what that saves."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

import httpx
import msgspec
import pytest

from governance.ledger.reading.prefixes import unread_writes
from governance.ledger.reading.reports import spend
from governance.money import Nanodollars
from tests.support.polyglot import Polyglot, polyglot, sold
from tests.support.providers.answer import Answer, Prompt
from tests.support.providers.fake import FakeProvider
from tests.support.providers.keeping import KeepingProvider
from tests.support.providers.script import Script

AUTO: Final = {"prefix": {"provider_breakpoints": "auto"}}
OFF: Final = {"prefix": {"provider_breakpoints": "off"}}
PRICE: Final = {"input": 3, "cached_input": 0.3, "cache_write": 3.75, "cache_write_1h": 6, "output": 15}
MODELS: Final = (
    sold("claude", "messages", model="claude-sonnet-4-5", price=PRICE),
    sold("bedrock", "converse", model="eu.anthropic.claude-sonnet-4-5-v1:0", price=PRICE),
    sold("nova", "converse", model="amazon.nova-pro-v1:0", price=PRICE),
    sold("llama", "converse", model="meta.llama3-v1:0", price=PRICE),
)
SYSTEM: Final = {"role": "system", "content": "You know every rule of the house. " * 600}
OBJECT: Final = {"type": "object", "properties": {}}
TOOLS: Final = [
    {"type": "function", "function": {"name": name, "description": "Looks it up. " * 400, "parameters": OBJECT}}
    for name in ("orders", "stock")
]  # fmt: skip
POINT: Final = {"cachePoint": {"type": "default"}}
EPHEMERAL: Final = {"type": "ephemeral"}


@asynccontextmanager
async def shop(
    folder: Path, cache: dict[str, Any], fake: FakeProvider | None = None, **changes: Any
) -> AsyncGenerator[Polyglot]:
    async with polyglot(folder, models=MODELS, fake=fake, cache=cache, **changes) as found:
        yield found


def empty(folder: Path) -> Path:
    return Path(mkdtemp(dir=folder))


async def converse(shop: Polyglot, model: str, turns: int, **body: Any) -> list[httpx.Response]:
    """Have a conversation of so many turns, each of which says all that was said before."""
    messages: list[dict[str, Any]] = [SYSTEM]
    replies: list[httpx.Response] = []
    for turn in range(turns):
        messages.append({"role": "user", "content": f"Question {turn}: " + "and so on " * 100})
        replies.append(await shop.ask(model, messages=messages, **body))
        assert replies[-1].status_code == 200, replies[-1].text
        messages.append({"role": "assistant", "content": replies[-1].json()["choices"][0]["message"]["content"]})
    return replies


def marks(value: object) -> int:
    if isinstance(value, dict):
        own = int("cache_control" in value or "cachePoint" in value)
        return own + sum(marks(each) for each in value.values())
    return sum(marks(each) for each in value) if isinstance(value, list) else 0


async def test_a_growing_conversation_is_marked_for_anthropic_after_tools_system_and_the_latest_turn(
    tmp_path: Path,
) -> None:
    async with shop(tmp_path, AUTO, KeepingProvider()) as found:
        await converse(found, "claude", 6, tools=TOOLS)
        bodies = [served.body for served in found.fake.served]

    for turn, body in enumerate(bodies):
        assert "cache_control" not in body["tools"][0]
        assert body["tools"][1]["cache_control"] == EPHEMERAL
        assert [part.get("cache_control") for part in body["system"]] == [EPHEMERAL]
        marked = [at for at, message in enumerate(body["messages"]) if marks(message)]
        assert marked == ([2 * turn - 2, 2 * turn] if turn else [0])
        assert marks(body) == (4 if turn else 3)


async def test_a_growing_conversation_has_cache_points_at_bedrock_where_its_models_know_them(tmp_path: Path) -> None:
    fake = FakeProvider(Script(answer=Answer(prompt=Prompt(fresh=2, read=5000, written=6000))))
    async with shop(tmp_path, AUTO, fake) as found:
        for model in ("bedrock", "nova", "llama"):
            await converse(found, model, 6, tools=TOOLS)
        claude, nova, llama = ([served.body for served in found.fake.served[at : at + 6]] for at in (0, 6, 12))

    for turn in range(6):
        assert claude[turn]["toolConfig"]["tools"][-1] == POINT
        assert "cachePoint" not in str(nova[turn]["toolConfig"])
        for body in (claude[turn], nova[turn]):
            assert body["system"][-1] == POINT
            assert body["messages"][-1]["content"][-1] == POINT
        assert marks(claude[turn]) <= 4
        assert marks(llama[turn]) == 0


async def test_openai_is_told_what_a_conversation_shares_with_others_of_its_tenant_alone(tmp_path: Path) -> None:
    async with shop(tmp_path, AUTO) as found:
        await converse(found, "responses", 6)
        await found.ask("responses", messages=[SYSTEM, {"role": "user", "content": "Another"}])
        red = await found.gateway.key("red", "other")
        await found.gateway.client.post(
            "/v1/chat/completions",
            json={"model": "responses", "messages": [SYSTEM, {"role": "user", "content": "Hi"}]},
            headers={"x-api-key": await found.gateway.key("blue", "bot")},
        )
        assert red
        await found.ask("responses", messages=[SYSTEM, {"role": "user", "content": "Hi"}], prompt_cache_key="mine")
        keys = [served.body["prompt_cache_key"] for served in found.fake.served]

    assert len(set(keys[:8])) == 1
    assert len(keys[0]) == 32
    assert keys[8] == "mine"


@pytest.mark.parametrize("model", ["chat", "responses", "gemini"])
async def test_where_all_is_cached_by_itself_nothing_is_marked_and_the_start_is_said_alike(
    tmp_path: Path, model: str
) -> None:
    async with shop(tmp_path, AUTO) as found:
        await converse(found, model, 6, tools=TOOLS)
        await found.ask(model, tools=TOOLS[::-1], messages=[SYSTEM, {"role": "user", "content": "Hi"}])
        bodies = [served.body for served in found.fake.served]

    assert not any(marks(body) for body in bodies)
    assert {str(body["tools"]) for body in bodies} == {str(bodies[0]["tools"])}
    if model == "chat":
        assert [list(body)[:3] for body in bodies] == [["model", "tools", "messages"]] * 7
        assert not any("prompt_cache_key" in body for body in bodies)  # whoever this is may not know it


@pytest.mark.parametrize("model", ["claude", "bedrock", "chat", "responses", "gemini"])
async def test_with_off_every_byte_is_as_it_came(tmp_path: Path, model: str) -> None:
    sent: list[list[bytes]] = []
    for cache in ({}, OFF):
        async with shop(empty(tmp_path), cache) as found:
            await converse(found, model, 3, tools=TOOLS, user="u1")
            await found.ask(model, tools=TOOLS[::-1])
            sent.append([msgspec.json.encode(served.body) for served in found.fake.served])
    assert sent[0] == sent[1]
    assert not any(b"cache" in body for body in sent[0])


async def test_marks_of_the_client_count_and_stay(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": f"Part {n} " * 300, "cache_control": EPHEMERAL} for n in range(3)]
    async with shop(tmp_path, AUTO, KeepingProvider()) as found:
        await found.ask("claude", messages=[SYSTEM, {"role": "user", "content": parts}], tools=TOOLS)
        await found.ask("claude", messages=[{"role": "user", "content": [*parts, *parts[:1]]}], tools=TOOLS)
        first, second = (served.body for served in found.fake.served)

    assert first["messages"] == [{"role": "user", "content": parts}]
    assert (marks(first), marks(first["system"])) == (4, 1)
    assert second["messages"] == [{"role": "user", "content": [*parts, *parts[:1]]}]
    assert marks(second) == 4


async def test_what_a_cache_spares_and_costs_is_booked_to_the_nano_dollar(tmp_path: Path) -> None:
    async with shop(tmp_path, AUTO) as found:
        found.fake.script = Script(answer=Answer(prompt=Prompt(fresh=7, read=900, written=400, written_1h=11)))
        reply = await found.ask("claude")
        booked = await found.booked(reply)
        since = datetime.now(UTC) - timedelta(hours=1)
        report = await spend(found.gateway.database, "feature", since, since + timedelta(hours=2))

    spared = 900 * 2700 - 400 * 750 - 11 * 3000
    assert booked.request.cost.nanos == 7 * 3000 + 900 * 300 + 400 * 3750 + 11 * 6000 + 4 * 15000
    assert booked.request.saved == Nanodollars(spared)
    assert reply.headers["x-sluice-saved-usd"] == Nanodollars(spared).usd
    assert report.total.saved_prefix == Nanodollars(spared)
    assert (report.total.saved_cache.nanos, report.total.saved_routing.nanos) == (0, 0)


async def test_a_cache_that_nobody_read_has_cost_something(tmp_path: Path) -> None:
    async with shop(tmp_path, AUTO) as found:
        found.fake.script = Script(answer=Answer(prompt=Prompt(fresh=7, written=400)))
        booked = await found.booked(await found.ask("claude"))
    assert booked.request.saved == Nanodollars(-400 * 750)


async def test_savings_of_a_cheaper_model_and_of_a_cache_add_up_to_the_baseline_without_a_cache(tmp_path: Path) -> None:
    async with shop(tmp_path, AUTO, baseline="dear") as found:
        found.fake.script = Script(answer=Answer(prompt=Prompt(fresh=100, read=900)))
        booked = (await found.booked(await found.ask("claude"))).request
    assert booked.saved == Nanodollars(1000 * 10_000 + 4 * 30_000) - booked.cost


async def test_a_conversation_of_ten_turns_gets_cheaper(tmp_path: Path) -> None:
    """By 76.1 % of all it costs, with a system prompt of 5,100 tokens and turns of 260."""
    spent: list[int] = []
    for cache in (OFF, AUTO):
        async with shop(empty(tmp_path), cache, KeepingProvider()) as found:
            replies = await converse(found, "claude", 10)
            rows = [(await found.booked(reply)).request for reply in replies]
            spent.append(sum(row.cost.nanos for row in rows))
            saved = sum(row.saved.nanos for row in rows)
    assert spent == [198_765_000, 47_467_950]
    assert saved == spent[0] - spent[1]


async def test_prompts_that_never_come_again_get_dearer_by_no_more_than_two_tries(tmp_path: Path) -> None:
    provider = KeepingProvider()
    async with shop(tmp_path, AUTO, provider) as found:
        replies = [
            await found.ask("claude", messages=[{"role": "user", "content": f"{n} is a story. " * 900}])
            for n in range(12)
        ]
        saved = [(await found.booked(reply)).request.saved.nanos for reply in replies]
        now = datetime.now(UTC)
        unread = await unread_writes(found.gateway.database, now - timedelta(hours=1), now + timedelta(hours=1))

    assert provider.marks == [1, 1] + [0] * 10
    assert all(each < 0 for each in saved[:2])
    assert not any(saved[2:])
    assert [(row.app, row.feature, row.writes, row.cost.nanos) for row in unread] == [
        ("bot", "unattributed", 2, -sum(saved))
    ]


async def test_what_a_later_request_read_is_no_unread_write(tmp_path: Path) -> None:
    async with shop(tmp_path, AUTO, KeepingProvider()) as found:
        last = (await converse(found, "claude", 5))[-1]
        wrote = (await found.booked(last)).attempts[0]
        now = datetime.now(UTC)
        (unread,) = await unread_writes(found.gateway.database, now - timedelta(hours=1), now + timedelta(hours=1))
        assert await unread_writes(found.gateway.database, now - timedelta(hours=1), now, team="red") == ()
    assert wrote.cost
    assert unread.writes == 1
    assert 0 < unread.tokens < 400  # what the last turn added, and nobody has asked after yet


async def test_an_hour_is_asked_for_only_where_the_policy_says_so(tmp_path: Path) -> None:
    hour = {"prefix": {"provider_breakpoints": "auto", "longest": "1h"}}
    async with shop(tmp_path, hour, KeepingProvider()) as found:
        memory = found.gateway.services.in_force.governed.chat.prefixing.memory
        for feature in ("system", "opening"):
            stream = ("blue/bot", "unattributed", feature)
            for _ in range(200):
                memory.reuse.begun(stream)  # pyright: ignore[reportArgumentType]
                memory.reuse.came_again(stream, 1000)  # pyright: ignore[reportArgumentType]
        reply = await found.ask("claude", messages=[SYSTEM, {"role": "user", "content": "Hi"}])
        booked = (await found.booked(reply)).request
        body = found.fake.last.body
        assert body["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
        assert found.fake.last.tokens.prompt.written_1h > 5000
        assert booked.held >= booked.cost
