"""`sluice cache stats`: what the caches answered, and how the semantic cache of each feature stands."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cache.learning.lookups import Action
from cache.learning.threshold import LEAST
from governance.lookups.records import Lookup, Lookups
from tests.support.command_line import CommandLine
from tests.support.databases import fresh_database
from tests.support.recorded_lookups import FEATURE, found, missed, word

NOW = datetime.now(UTC)


def write(folder: Path, *lookups: Lookup) -> None:
    async def written() -> None:
        async with fresh_database(folder) as database:
            await Lookups(database).write(lookups)

    asyncio.run(written())


def test_nothing_is_said_of_nothing(tmp_path: Path) -> None:
    shell = CommandLine(tmp_path)
    assert shell.run("cache", "stats").stdout == "No cache has answered or been asked yet: see `cache` in the policy.\n"
    assert shell.json("cache", "stats") == []


def test_what_each_feature_was_answered_is_counted(tmp_path: Path) -> None:
    write(
        tmp_path,
        *[word("exact", feature="blue/bot/faq", at=NOW)] * 3,
        *[missed(at=NOW - timedelta(days=8))] * LEAST,
        *[found(Action.SERVE, explored=0.5, at=NOW)] * 2,
        found(Action.EXPLORE, at=NOW),
    )
    shell = CommandLine(tmp_path)
    blue, red = shell.json("cache", "stats")
    assert blue == {"feature": "blue/bot/faq", "exact": 3, "semantic": 0}
    assert (red["feature"], red["exact"], red["semantic"]) == (FEATURE, 0, 2)
    assert (red["lookups"], red["served"], red["compared"], red["open"]) == (LEAST + 3, 2, 1, False)
    assert red["reason"] == "too little is known yet"
    assert 0 <= red["error"] <= red["error_upper"] <= 1
    table = shell.run("cache", "stats").stdout.splitlines()
    assert table[0].split("  ")[0] == "Feature"
    assert "closed: too little is known yet" in table[2]


def test_hits_are_counted_as_far_back_as_is_asked(tmp_path: Path) -> None:
    write(tmp_path, word("exact", at=NOW - timedelta(days=8)))
    shell = CommandLine(tmp_path)
    assert shell.json("cache", "stats") == []
    assert [each["exact"] for each in shell.json("cache", "stats", "--since", "9d")] == [1]


@pytest.mark.parametrize("since", ["yesterday", "0d", "7"])
def test_a_length_of_time_that_is_none_is_wrong_usage(tmp_path: Path, since: str) -> None:
    assert CommandLine(tmp_path).run("cache", "stats", "--since", since).exit_code == 2
