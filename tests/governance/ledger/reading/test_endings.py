"""Following the requests that end."""

from pathlib import Path

import pytest

from governance.database import Database
from governance.ledger.events import EventKind, LedgerEvent
from governance.ledger.reading import endings
from governance.ledger.reading.endings import Endings, newest
from governance.money import Nanodollars
from tests.support.databases import fresh_database, write
from tests.support.requests import NOON, opening


def event(number: int, kind: EventKind = EventKind.SETTLED, cost: int = 5) -> LedgerEvent:
    return LedgerEvent(kind=kind, opening=opening(f"r{number}", session=f"s{number}"), cost=Nanodollars(cost))


async def sessions(found: Endings, upto: int | None = None) -> list[list[str | None]]:
    return [[ending.values["session"] for ending in batch] async for batch in found.follow(upto)]


async def fail_on_the_first(followed: Endings) -> None:
    async for _ in followed.follow():
        raise ZeroDivisionError


async def three(database: Database) -> None:
    await write(database, event(0, EventKind.HELD), event(1), event(2, EventKind.REFUSED, 0), event(3))


async def test_only_requests_that_have_ended_and_cost_something_are_found_and_only_once(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        assert await newest(database) == 0
        await three(database)
        followed = Endings(database, 0)
        assert await sessions(followed) == [["s1", "s3"]]
        assert await sessions(followed) == []
        assert followed.after == await newest(database)
        await write(database, event(4))
        ((ending,),) = [batch async for batch in followed.follow()]
        assert (ending.at, ending.values["team"], ending.values["end_user"]) == (NOON, "support", None)


async def test_many_come_in_batches_and_a_batch_whose_reader_fails_comes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endings, "BATCH", 2)
    async with fresh_database(tmp_path) as database:
        await write(database, *(event(n) for n in range(5)))
        followed = Endings(database, 0)
        with pytest.raises(ZeroDivisionError):
            await fail_on_the_first(followed)
        assert await sessions(followed) == [["s0", "s1"], ["s2", "s3"], ["s4"]]


async def test_reading_may_end_at_a_row(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        await write(database, *(event(n) for n in range(3)))
        followed = Endings(database, 0)
        assert await sessions(followed, upto=2) == [["s0", "s1"]]
        assert await sessions(followed) == [["s2"]]
