"""What was written to a provider's cache and not read is found, to the token and the nano-dollar."""

from datetime import datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from governance.database import Database
from governance.ledger.batches import store
from governance.ledger.events import EventKind, LedgerAttempt, LedgerEvent, Settlement
from governance.ledger.reading.prefixes import Unread, unread_writes
from governance.money import Nanodollars
from governance.prices import Price, Usage
from tests.support.databases import fresh_database
from tests.support.requests import NOON, attempt, opening

SINCE, UNTIL = NOON - timedelta(hours=1), NOON + timedelta(hours=1)
PRICE = Price(input=Nanodollars(4_000_000), output=Nanodollars(1), cache_write=Nanodollars(5_000_000), source="policy")


async def called(
    database: Database, name: str, at: datetime, usage: Usage, *, wrote: str = "", read: str = "", feature: str = "faq"
) -> None:
    made = replace(attempt(Nanodollars(0), usage), at=at, price=PRICE, prefix_wrote=wrote, prefix_read=read)
    ended = Settlement(outcome="ok", status=200, attempts=(made,))
    asked = opening(name, at, feature=feature)
    event = LedgerEvent(kind=EventKind.SETTLED, opening=asked, cost=ended.cost, settlement=ended)
    await store(database, [event, LedgerAttempt(name, 1, made)])


async def test_of_a_write_that_is_read_in_part_the_rest_is_unread(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        await called(database, "r1", NOON, Usage(cache_write=1000), wrote="aa:600,bb:1000")
        found = await unread_writes(database, SINCE, UNTIL)
        assert [(one.writes, one.tokens, one.cost.nanos) for one in found] == [(1, 1000, 1000)]

        await called(database, "r2", NOON + timedelta(minutes=1), Usage(cache_read=600), read="aa", feature="other")
        found = await unread_writes(database, SINCE, UNTIL)
        assert [(one.feature, one.tokens, one.cost.nanos) for one in found] == [("faq", 400, 400)]

        await called(database, "r3", NOON + timedelta(minutes=2), Usage(cache_read=1000), read="bb")
        assert await unread_writes(database, SINCE, UNTIL) == ()


async def test_what_was_read_before_it_was_written_again_is_unread(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        await called(database, "r1", NOON, Usage(cache_read=1000), read="aa")
        await called(database, "r2", NOON + timedelta(minutes=30), Usage(cache_write=1000), wrote="aa:1000")
        assert [one.tokens for one in await unread_writes(database, SINCE, UNTIL)] == [1000]


async def test_a_read_after_the_span_counts_and_a_write_after_it_does_not(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        await called(database, "r1", UNTIL - timedelta(minutes=1), Usage(cache_write=1000), wrote="aa:1000")
        await called(database, "r2", UNTIL, Usage(cache_read=1000, cache_write=9), read="aa", wrote="bb:1009")
        assert await unread_writes(database, SINCE, UNTIL) == ()


async def test_writes_of_the_client_or_of_another_team_are_not_listed(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        await called(database, "r1", NOON, Usage(cache_write=1000))
        await called(database, "r2", NOON, Usage(cache_write=1000), wrote="aa:1000")
        assert await unread_writes(database, SINCE, UNTIL, team="nobody") == ()
        (found,) = await unread_writes(database, SINCE, UNTIL)
    assert isinstance(found, Unread)
    assert found.writes == 1
