"""The bench of the cache does what it says, whatever it measures."""

import json
from importlib.util import find_spec
from pathlib import Path

from tests.support.command_line import CommandLine
from tests.support.servers import RedisServer

FEW = ("bench", "cache", "--rounds", "1", "--requests", "3", "--lookups", "8", "--entries", "100")
FAR = ("disk", "redis")
BY_MEANING = [
    "semantic hit",
    *(f"of it {part}" for part in ("embed", "search", "match", "decide")),
    "event loop late, during hits",
    "embed a text of 21 tokens",
    "embed a text of 213 tokens",
    "event loop late, at rest",
    "event loop late, while embedding",
    "index of 1 x 100",
    "index of 2 x 50",
]


def test_each_part_and_each_home_is_a_row_and_nothing_is_left_in_redis(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    before = redis_server.call("DBSIZE")
    result = CommandLine(tmp_path).run(*FEW, "--json", REDIS_URL=redis_server.url)
    assert result.exit_code == 0, result.output
    found = [(row["setting"]["part"], row["setting"]["home"]) for row in json.loads(result.stdout)]
    parts = [(part, "memory") for part in ("look-up", "cache", "whole")]
    exact = parts + [("look-up", where) for home in FAR for where in (home, f"near, {home}")]
    assert found[: len(exact)] == exact
    assert [part for part, _ in found[len(exact) :]] == (BY_MEANING if find_spec("onnxruntime") else [])
    assert redis_server.call("DBSIZE") == before


def test_a_person_reads_a_table(tmp_path: Path) -> None:
    result = CommandLine(tmp_path).run(*FEW)
    assert result.exit_code == 0, result.output
    heading, *lines = result.stdout.splitlines()
    assert heading.split() == ["Part", "Home", "CPU", "µs", "Least", "Most", "Bare", "loops"]
    assert lines[5] == "For one exact hit, all threads of this process."
    if find_spec("onnxruntime"):
        assert [line.split()[:2] for line in lines[6:8]] == [["By", "meaning"], ["semantic", "hit"]]
