from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from governance.ledger.events import JUDGE, EventKind, LedgerAttempt, LedgerEvent
from governance.ledger.reading.traffic import (
    Used,
    latest_calls,
    recorded_prices,
    session_requests,
    traffic,
    traffic_size,
    used,
)
from governance.prices import Usage
from tests.support.databases import fresh_database, write
from tests.support.requests import NOON, PRICE, attempt, opening, settlement, usd

HOUR = timedelta(hours=1)
USAGE = Usage(fresh_input=3, cache_write_1h=2, audio_input=1, image_input=4, output=4, audio_output=1, tool_runs=9)


def settled(request_id: str, minutes: int, **dimensions: str) -> LedgerEvent:
    at = NOON + timedelta(minutes=minutes)
    return LedgerEvent(
        kind=EventKind.SETTLED,
        opening=opening(request_id, at, **dimensions),
        held=usd("0.30"),
        cost=usd("0.10"),
        settlement=settlement("0.10", USAGE),
        duration_ms=250.0,
    )


async def test_traffic_is_read_in_order_of_arrival_and_holds_are_no_traffic(tmp_path: Path) -> None:
    held = LedgerEvent(kind=EventKind.HELD, opening=opening("r2", NOON), held=usd("0.30"))
    refused = LedgerEvent(kind=EventKind.REFUSED, opening=opening("r3", NOON + HOUR / 2), code="insufficient_quota")
    async with fresh_database(tmp_path) as database:
        await write(database, settled("late", 59), held, settled("early", 0), refused, settled("after", 60))
        rows = [row async for batch in traffic(database, NOON, NOON + HOUR) for row in batch]
        assert await traffic_size(database, NOON, NOON + HOUR) == 3
    assert [row.kind for row in rows] == ["settled", "refused", "settled"]
    assert [row.code for row in rows] == ["", "insufficient_quota", ""]
    assert (rows[0].fresh_input, rows[0].output, rows[0].held_nanos) == (3, 4, usd("0.30").nanos)
    who = ("support", "support-bot", "unattributed", "k1")
    assert (rows[0].met, rows[0].tokens) == (("settled", "v1", *who, "chat", "gpt", "openai", "pinned"), 15)


async def test_the_latest_calls_and_prices_and_the_use_of_each_caller_are_read(tmp_path: Path) -> None:
    entries = [settled(f"a{n}", n, app="a") for n in range(3)]
    entries += [settled("b", 5, app="b", model="other")]
    async with fresh_database(tmp_path) as database:
        await write(database, *entries, LedgerAttempt("b", 1, attempt(usd("0.10"), USAGE)))
        calls = await latest_calls(database, NOON, NOON + HOUR)
        prices = await recorded_prices(database, NOON, NOON + HOUR)
        use = await used(database, NOON, NOON + HOUR)
    assert [(call.app, call.model, call.duration_ms) for call in calls] == [("a", "gpt", 250.0)] * 3 + [
        ("b", "other", 250.0)
    ]
    assert prices == {"gpt": PRICE}
    assert [Usage(*[count or 0 for count in call.counts]) for call in calls] == [USAGE] * 4
    assert use == (
        Used("support", "a", "unattributed", "k1", "gpt", "pinned", 3, usd("0.30")),
        Used("support", "b", "unattributed", "k1", "other", "pinned", 1, usd("0.10")),
    )


async def test_what_the_gateway_asks_a_judge_itself_is_no_example_of_what_an_app_asks(tmp_path: Path) -> None:
    asked = settled("a", 0)
    judged = replace(asked, opening=replace(asked.opening, request_id="j", endpoint=JUDGE))
    async with fresh_database(tmp_path) as database:
        await write(database, asked, judged)
        calls = await latest_calls(database, NOON, NOON + HOUR)
    assert [call.endpoint for call in calls] == ["chat"]


async def test_the_requests_of_each_session_are_counted_by_key_once_they_were_let_in(tmp_path: Path) -> None:
    refused = LedgerEvent(kind=EventKind.REFUSED, opening=opening("r", NOON, session="s"), code="insufficient_quota")
    async with fresh_database(tmp_path) as database:
        await write(database, settled("a", 0, session="s"), settled("b", 1, session="s"), settled("c", 2), refused)
        await write(database, settled("d", 3, session="t"), settled("late", 60, session="t"))
        assert await session_requests(database, NOON, NOON + HOUR) == {("k1", "s"): 2, ("k1", "t"): 1}
