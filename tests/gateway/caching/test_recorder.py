"""The recorder loses nothing while the database is away, up to a bound, and hears what others wrote, once."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.caching import recorder as module
from gateway.caching.recorder import Recorder
from governance.database import Database
from governance.errors import StoreUnavailable
from governance.lookups.records import Lookup, Lookups
from tests.support.databases import fresh_database
from tests.support.recorded_lookups import missed, word


class Fickle(Lookups):
    """Look-ups on record in a database that goes away when a test says so."""

    away = False

    async def write(self, found: Sequence[Lookup]) -> None:
        if self.away:
            raise StoreUnavailable("away")
        await super().write(found)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    async with fresh_database(tmp_path) as opened:
        yield opened


def said(writer: str, name: str = "req_1") -> Lookup:
    return replace(missed(writer=writer), request_id=name)


def names(found: Sequence[Lookup]) -> list[str]:
    return [each.request_id for each in found]


async def test_what_is_noted_while_the_database_is_away_is_written_when_it_is_back(database: Database) -> None:
    lookups = Fickle(database)
    pen = Recorder(lookups, "one")
    lookups.away = True
    for n in range(3):
        pen.note(said("one", f"req_{n}"))
        with pytest.raises(StoreUnavailable):
            await pen.write()
    lookups.away = False
    await pen.write()
    await pen.write()
    assert names(await lookups.after(0, 10)) == ["req_0", "req_1", "req_2"]


async def test_of_more_than_may_wait_the_oldest_are_forgotten(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 3)
    lookups = Fickle(database)
    pen = Recorder(lookups, "one")
    lookups.away = True
    for n in range(5):
        pen.note(said("one", f"req_{n}"))
    with pytest.raises(StoreUnavailable):
        await pen.write()
    lookups.away = False
    await pen.write()
    assert names(await lookups.after(0, 10)) == ["req_2", "req_3", "req_4"]


async def test_two_recorders_hear_each_other_once_and_not_themselves(database: Database) -> None:
    one, other = Recorder(Lookups(database), "one"), Recorder(Lookups(database), "other")
    heard: dict[str, list[Lookup]] = {"one": [], "other": []}
    await one.begin(heard["one"].append)
    await other.begin(heard["other"].append)
    for n in range(3):
        one.note(said("one", f"one_{n}"))
        other.note(said("other", f"other_{n}"))
        await one.write()
        await other.write()
        await one.follow(heard["one"].append)
        await other.follow(heard["other"].append)
    assert names(heard["one"]) == ["other_0", "other_1", "other_2"]
    assert names(heard["other"]) == ["one_0", "one_1", "one_2"]


async def test_a_start_reads_its_own_words_too_and_no_more_than_it_may_remember(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 4)
    lookups = Lookups(database)
    await lookups.write([said("one", f"req_{n}") for n in range(6)])
    await lookups.write([word("exact")])
    pen, heard = Recorder(lookups, "one"), list[Lookup]()
    await pen.begin(heard.append)
    assert names(heard) == ["req_2", "req_3", "req_4", "req_5"]
    await pen.follow(heard.append)
    assert len(heard) == 4


async def test_who_writes_while_another_does_finds_all_on_record(database: Database) -> None:
    pen = Recorder(Lookups(database), "one")
    pen.note(said("one"))
    first = asyncio.create_task(pen.write())
    await asyncio.sleep(0)
    await pen.write()
    assert names(await pen.lookups.of_request("req_1")) == ["req_1"]
    await first


async def test_words_that_teach_nothing_are_passed_over_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_AT_ONCE", 2)
    lookups, heard, looked = Lookups(database), list[Lookup](), list[int]()
    pen = Recorder(lookups, "one")

    async def after(n: int, limit: int) -> tuple[Lookup, ...]:
        looked.append(n)
        return await Lookups(database).after(n, limit)

    monkeypatch.setattr(lookups, "after", after)
    await lookups.write([word("exact")] * 3)
    await pen.follow(heard.append)
    await pen.follow(heard.append)
    assert looked == [0]
    await lookups.write([said("other", f"req_{n}") for n in range(3)])
    await pen.follow(heard.append)
    await pen.follow(heard.append)
    assert names(heard) == ["req_0", "req_1", "req_2"]
    assert looked == [0, 3, 5]
