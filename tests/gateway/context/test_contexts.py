"""The context of chats, end to end: what the provider gets, what the caller is told, and what the books say."""

from pathlib import Path
from typing import Any, Final

import httpx
import msgspec

from governance.context.hours import ContextHours
from governance.ledger.reading.reports import spend
from governance.money import Nanodollars
from tests.support.polyglot import Polyglot, polyglot

ANSWER: Final = "The harbour office in Valdora opens at 9:40 every morning."


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
