"""The bench of governance does what it says, whatever it measures."""

import json
from pathlib import Path
from typing import Any

from gateway.bench.governance import POLICIES
from tests.support.command_line import CommandLine
from tests.support.servers import RedisServer

FEW = ("bench", "governance", "--rounds", "2", "--requests", "3")


def rows(command_line: CommandLine, **environment: str) -> list[dict[str, Any]]:
    result = command_line.run(*FEW, "--json", **environment)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_each_policy_is_a_row_with_its_figure_and_spread(tmp_path: Path) -> None:
    found = rows(CommandLine(tmp_path))
    assert [row["setting"] for row in found] == [{"policy": policy, "counters": "memory"} for policy in POLICIES]
    for row in found:
        least, most = row["spread"]
        assert 0 < least <= row["median"] <= most
        assert row["ratio"] > 0
        assert row["trips"] == 0


def test_a_person_reads_a_table(tmp_path: Path) -> None:
    result = CommandLine(tmp_path).run(*FEW)
    assert result.exit_code == 0, result.output
    heading, *lines = result.stdout.splitlines()
    assert heading.split() == ["Policy", "Counters", "CPU", "µs", "Least", "Most", "Bare", "loops", "Trips"]
    assert [line.split()[0] for line in lines[: len(POLICIES)]] == list(POLICIES)


def test_a_request_takes_one_trip_to_redis_before_its_answer_and_one_after(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    found = rows(CommandLine(tmp_path), REDIS_URL=redis_server.url)
    trips = {row["setting"]["policy"]: row["trips"] for row in found if row["setting"]["counters"] == "redis"}
    assert trips["plain"] == 2
    # Budget steps ask where budgets stand where nothing has told it: for a round's first request, and a second later.
    assert all(2 <= trips[policy] < 3 for policy in POLICIES)


def test_nothing_is_left_in_redis(tmp_path: Path, redis_server: RedisServer) -> None:
    before = redis_server.call("DBSIZE")
    rows(CommandLine(tmp_path), REDIS_URL=redis_server.url)
    assert redis_server.call("DBSIZE") == before


def test_a_redis_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = CommandLine(tmp_path).run(*FEW, REDIS_URL=f"unix://{tmp_path / 'nobody'}")
    assert result.exit_code == 1
    assert "Redis does not answer" in result.stderr
    assert "Traceback" not in result.stderr
