"""The context of chats, end to end: what the provider gets, what the caller is told, and what the books say."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec

from governance.context.hours import ContextHours
from governance.ledger.reading.reports import spend
from governance.money import Nanodollars
from tests.support.polyglot import Polyglot, polyglot
from tests.support.providers.answer import Answer
from tests.support.providers.answer import Prompt as Fake
from tests.support.providers.script import Script

ANSWER: Final = "The harbour office in Valdora opens at 9:40 every morning."

OBJECT: Final = {"type": "object", "properties": {}}
TOOLS: Final = [
    {"type": "function", "function": {"name": "look", "description": "Looks it up, slowly. " * 9, "parameters": OBJECT}}
]


def filler(n: int) -> str:
    return (
        f"Paragraph {n} talks of gardens, music and the weather of region {n}, and of nothing that matters here. " * 4
    )


def prompt(documents: int = 30) -> list[dict[str, Any]]:
    """Return a chat over documents, one of which answers the question at the end."""
    said = [ANSWER if n == documents // 2 else filler(n) for n in range(documents)]
    pasted = "\n".join(f"<document>\n{text}\n</document>" for text in said)
    return [
        {"role": "system", "content": "Answer   from the documents.\n\n\n\nBe short."},
        {"role": "user", "content": f"{pasted}\n\nWhen does the office in Valdora open?"},
    ]


def policy(**section: Any) -> dict[str, Any]:
    return {"context": section}


async def sent(shop: Polyglot, **body: Any) -> tuple[httpx.Response, dict[str, Any]]:
    reply = await shop.ask("chat", **body)
    return reply, shop.fake.served[-1].body


async def test_with_off_a_prompt_goes_out_as_it_came(tmp_path: Path) -> None:
    (tmp_path / "with").mkdir()
    (tmp_path / "none").mkdir()
    bodies: list[dict[str, Any]] = []
    for folder, section in (("none", {}), ("with", policy(trim={"mode": "off", "target_tokens": 50}))):
        async with polyglot(tmp_path / folder, **section) as shop:
            reply, body = await sent(shop, messages=prompt())
            assert "x-sluice-context" not in reply.headers
            bodies.append(body)

    assert msgspec.json.encode(bodies[0]) == msgspec.json.encode(bodies[1])
    assert bodies[0]["messages"] == prompt()


async def test_a_prompt_above_its_target_is_cut_around_the_answer_and_the_saving_is_booked(tmp_path: Path) -> None:
    section = policy(audit=True, trim={"mode": "trim", "target_tokens": 800})
    async with polyglot(tmp_path, **section) as shop:
        reply, body = await sent(shop, messages=prompt())
        system, user = body["messages"]
        booked = await shop.booked(reply)
        report = await spend(
            shop.gateway.database, "team", booked.request.at.replace(year=2020), shop.gateway.services.now()
        )
        await shop.gateway.services.in_force.governed.chat.contexts.measures.write()
        hours = await ContextHours(shop.gateway.database).since(booked.request.at, "team")

    assert system == prompt()[0]
    assert ANSWER in user["content"]
    assert user["content"].endswith("When does the office in Valdora open?")
    assert len(user["content"]) < len(prompt()[1]["content"]) / 2
    what, counts = reply.headers["x-sluice-context"].split(";tokens=")
    before, after = map(int, counts.split("->"))
    assert what == "trimmed"
    assert after <= 1.1 * 800 < before
    assert booked.request.context == reply.headers["x-sluice-context"]
    assert report.total.saved_context == Nanodollars((before - after) * 3_000)
    assert report.total.saved == report.total.saved_context
    (measured,) = hours.values()
    assert measured["requests"] == 1
    assert measured["cut"] == before - after
    assert measured["retrieved"] > measured["asked"] > 0
    assert measured["saved_nanos"] == report.total.saved_context.nanos
    assert measured["input_nanos"] > 0


async def test_warn_leaves_a_prompt_as_it_is_and_says_what_it_would_cut(tmp_path: Path) -> None:
    async with polyglot(tmp_path, **policy(trim={"mode": "warn", "target_tokens": 800})) as shop:
        reply, body = await sent(shop, messages=prompt())
        booked = await shop.booked(reply)

    assert body["messages"] == prompt()
    assert reply.headers["x-sluice-context"].startswith("warn;tokens=")
    assert booked.request.saved == Nanodollars(0)


async def test_a_prompt_that_is_too_long_is_refused_with_the_counts_before_anything_is_held(tmp_path: Path) -> None:
    async with polyglot(tmp_path, **policy(trim={"mode": "refuse", "target_tokens": 800})) as shop:
        reply = await shop.ask("chat", messages=prompt())
        served = len(shop.fake.served)
        short = await shop.ask("chat", messages=prompt(3))

    error = reply.json()["error"]
    assert reply.status_code == 400
    assert error["code"] == "context_length_exceeded"
    assert (error["limit"], error["param"]) == (800, "messages")
    assert error["tokens"] > 800
    assert reply.headers["x-should-retry"] == "false"
    assert served == 0
    assert short.status_code == 200


async def test_the_longest_prompt_holds_for_what_is_left_after_cutting(tmp_path: Path) -> None:
    section = policy(max_input_tokens=900, trim={"mode": "trim"})
    async with polyglot(tmp_path, **section) as shop:
        refused = await shop.ask("chat", messages=[{"role": "user", "content": "My own words. " * 1000}])
        cut = await shop.ask("chat", messages=prompt())

    assert cut.status_code == 200
    assert refused.json()["error"]["code"] == "context_length_exceeded"


async def test_the_same_request_has_the_same_answer_however_it_is_cut_and_another_rule_another_one(
    tmp_path: Path,
) -> None:
    section = policy(trim={"mode": "trim", "target_tokens": 800})
    cache = {"exact": {"ttl": "1h", "shared_by": "org"}}
    async with polyglot(tmp_path, cache=cache, **section) as shop:
        first = await shop.ask("chat", messages=prompt(), temperature=0)
        again = await shop.ask("chat", messages=prompt(), temperature=0)

    assert first.headers["x-sluice-cache"] == "miss"
    assert again.headers["x-sluice-cache"] == "exact"
    assert again.json()["choices"] == first.json()["choices"]


async def test_a_prompt_whose_beginning_the_provider_has_is_left_as_it_is_where_that_is_cheaper(tmp_path: Path) -> None:
    cache = {"prefix": {"provider_breakpoints": "auto"}}
    chat = [
        message
        for n in range(30)
        for message in ({"role": "user", "content": filler(n)}, {"role": "assistant", "content": filler(n + 100)})
    ]
    grown = [*chat, {"role": "user", "content": "What was said of region 7?"}]
    async with polyglot(tmp_path, cache=cache, **policy(trim={"mode": "trim", "target_tokens": 60_000})) as shop:
        shop.fake.script = Script(answer=Answer(prompt=Fake(fresh=6_900)))
        await shop.ask("chat", messages=grown[:-2])
        await shop.gateway.follow(
            msgspec.yaml.decode((tmp_path / "policy.yaml").read_bytes())
            | policy(trim={"mode": "trim", "target_tokens": 6_000, "keep_last_turns": 1})
        )
        kept, body = await sent(shop, messages=grown)
        fresh, cut = await sent(shop, messages=[{"role": "user", "content": "Another start."}, *grown[1:]])

    assert kept.headers["x-sluice-context"].startswith("kept;tokens=")
    assert body["messages"] == grown
    assert fresh.headers["x-sluice-context"].startswith("trimmed;tokens=")
    assert len(str(cut["messages"])) < len(str(grown)) / 2


async def test_a_feature_may_be_cut_while_its_app_is_not_and_is_audited_by_itself(tmp_path: Path) -> None:
    teams = [
        {
            "name": "blue",
            "apps": [
                {
                    "name": "bot",
                    "headers": ["feature"],
                    "features": [{"name": "faq", "context": {"trim": {"mode": "trim", "target_tokens": 800}}}],
                }
            ],
        }
    ]
    async with polyglot(tmp_path, teams=teams, **policy(audit=True)) as shop:
        faq, cut = await sent(shop, messages=prompt(), tools=TOOLS, headers={"x-sluice-feature": "faq"})
        plain, body = await sent(shop, messages=prompt(), tools=TOOLS)
        measures = shop.gateway.services.in_force.governed.chat.contexts.measures
        await measures.write()
        hours = await measures.hours.since(datetime.now(UTC), "feature")

    assert "x-sluice-context" not in plain.headers
    assert faq.headers["x-sluice-context"].startswith("trimmed;")
    assert body["messages"] == prompt() != cut["messages"]
    assert (hours["blue/bot/faq"]["cut"] > 0, hours["blue/bot/unattributed"]["cut"]) == (True, 0)
    assert hours["blue/bot/faq"]["unused"] == hours["blue/bot/faq"]["idle"] > 0
    assert hours["blue/bot/faq"]["unused_nanos"] > 0
