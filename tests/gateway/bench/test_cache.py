"""The bench of the cache does what it says, whatever it measures."""

import json
from pathlib import Path

from tests.support.command_line import CommandLine
from tests.support.servers import RedisServer

FEW = ("bench", "cache", "--rounds", "1", "--requests", "3")
FAR = ("disk", "redis")


def test_each_part_and_each_home_is_a_row_and_nothing_is_left_in_redis(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    before = redis_server.call("DBSIZE")
    result = CommandLine(tmp_path).run(*FEW, "--json", REDIS_URL=redis_server.url)
    assert result.exit_code == 0, result.output
    found = [(row["setting"]["part"], row["setting"]["home"]) for row in json.loads(result.stdout)]
    parts = [(part, "memory") for part in ("look-up", "cache", "whole")]
    assert found == parts + [("look-up", where) for home in FAR for where in (home, f"near, {home}")]
    assert redis_server.call("DBSIZE") == before


def test_a_person_reads_a_table(tmp_path: Path) -> None:
    result = CommandLine(tmp_path).run(*FEW)
    assert result.exit_code == 0, result.output
    heading, *lines = result.stdout.splitlines()
    assert heading.split() == ["Part", "Home", "CPU", "µs", "Least", "Most", "Bare", "loops"]
    assert len(lines) == 6
