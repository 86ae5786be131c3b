"""`sluice cache purge`: one order for each option, and none for what makes no sense."""

import asyncio
from pathlib import Path

import pytest

from governance.lookups import purges
from governance.lookups.purges import Purge
from tests.support.command_line import CommandLine
from tests.support.databases import fresh_database

KEY = "ab" * 32


def ordered(folder: Path) -> tuple[Purge, ...]:
    async def read() -> tuple[Purge, ...]:
        async with fresh_database(folder) as database:
            return await purges.after(database, 0)

    return asyncio.run(read())


@pytest.mark.parametrize(
    ("arguments", "kind", "value", "similarity"),
    [
        (["--all"], "all", "", 0.0),
        (["--tag", "doc-17"], "tag", "doc-17", 0.0),
        (["--team", "red"], "tag", "team:red", 0.0),
        (["--app", "bot"], "tag", "app:bot", 0.0),
        (["--feature", "bot/faq"], "tag", "feature:bot/faq", 0.0),
        (["--model", "small"], "tag", "model:small", 0.0),
        (["--request", "req_1"], "tag", "request:req_1", 0.0),
        (["--key", KEY.upper()], "key", KEY, 0.0),
        (["--like", "Where is it?"], "like", "Where is it?", 0.95),
        (["--like", "Where is it?", "--similarity", "0.8"], "like", "Where is it?", 0.8),
    ],
)
def test_an_option_becomes_an_order(
    tmp_path: Path, arguments: list[str], kind: str, value: str, similarity: float
) -> None:
    result = CommandLine(tmp_path).run("cache", "purge", *arguments)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Ordered: running gateways forget within a second")
    (order,) = ordered(tmp_path)
    assert (order.kind, order.value, order.similarity) == (kind, value, similarity)
    assert order.by.startswith("cli:")


def test_a_program_is_told_what_was_ordered(tmp_path: Path) -> None:
    told = CommandLine(tmp_path).json("cache", "purge", "--tag", "doc-17")
    (order,) = ordered(tmp_path)
    assert told == {"kind": "tag", "value": "doc-17", "at": order.at.isoformat()}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "exactly one of the options"),
        (["--tag", "a", "--all"], "exactly one of the options"),
        (["--team", "red", "--app", "bot"], "exactly one of the options"),
        (["--key", "abc"], "--key is not a fingerprint"),
        (["--key", "ab" * 31], "--key is not a fingerprint"),
        (["--like", ""], "--like is empty"),
        (["--tag", ""], "--tag is empty"),
        (["--team", ""], "--team is empty"),
        (["--tag", "a", "--similarity", "0.9"], "--similarity goes with --like"),
        (["--like", "a", "--similarity", "0"], "0<x<=1"),
        (["--like", "a", "--similarity", "1.5"], "0<x<=1"),
    ],
)
def test_what_makes_no_sense_orders_nothing(tmp_path: Path, arguments: list[str], told: str) -> None:
    result = CommandLine(tmp_path).run("cache", "purge", *arguments)
    assert (result.exit_code, told in result.output) == (2, True), result.output
    assert ordered(tmp_path) == ()
