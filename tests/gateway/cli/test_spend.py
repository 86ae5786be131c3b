import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from governance.ledger.events import EventKind, LedgerAttempt, LedgerEvent, Settlement
from governance.ledger.writer import LedgerWriter
from governance.prices import Usage
from tests.support.command_line import CommandLine
from tests.support.databases import fresh_database
from tests.support.requests import attempt, opening, usd


async def write_ledger(folder: Path) -> None:
    """Write a ledger with two requests of today: one of the feature faq for 0.25 USD, one refused."""
    asked = opening("r1", at=datetime.now(UTC), feature="faq")
    made = attempt(usd("0.25"))
    ended = Settlement(outcome="ok", status=200, attempts=(made,), saved_cache=usd("0.000000001"))
    refused = opening("r2", at=datetime.now(UTC), workflow="\x1b[31mred")
    async with fresh_database(folder) as database, LedgerWriter(database, folder / "spool") as writer:
        writer.append(
            LedgerEvent(kind=EventKind.SETTLED, opening=asked, cost=ended.cost, settlement=ended, status=200),
            LedgerAttempt("r1", 1, made),
            LedgerEvent(kind=EventKind.REFUSED, opening=refused, code="insufficient_quota", status=429),
        )


@pytest.fixture
def shell(tmp_path: Path) -> CommandLine:
    asyncio.run(write_ledger(tmp_path))
    return CommandLine(tmp_path)


def test_spend_is_told_to_programs_as_exact_decimal_text(shell: CommandLine) -> None:
    report = shell.json("spend", "--by", "feature", "--since", "1h")
    rows = {row["name"]: row for row in report["rows"]}
    assert rows["faq"]["cost_usd"] == "0.25"
    assert rows["faq"]["saved_usd"] == "0.000000001"
    assert rows["unattributed"]["refused"] == 1
    assert report["total"]["cost_usd"] == "0.25"
    assert report["total"]["requests"] == 2


def test_spend_is_shown_to_people_as_a_table_with_a_total(shell: CommandLine) -> None:
    table = shell.run("spend", "--by", "feature", COLUMNS="160").stdout
    assert table.splitlines()[0].split()[0] == "Feature"
    assert next(line for line in table.splitlines() if line.startswith("faq")).split()[-1] == "0.25"
    assert next(line for line in table.splitlines() if line.startswith("Total")).split()[-1] == "0.25"


def test_what_a_terminal_would_obey_in_a_name_is_not_printed(shell: CommandLine) -> None:
    for verb in (("spend", "--by", "workflow"), ("spend", "--by", "workflow", "--json")):
        told = shell.run(*verb).output
        assert "�[31m" in told or "\\u001b[31m" in told
        assert told.replace("\n", "").isprintable()


def test_a_home_without_a_ledger_has_no_spend(tmp_path: Path) -> None:
    report = CommandLine(tmp_path / "new").json("spend")
    assert (report["rows"], report["total"]["cost_usd"]) == ([], "0.00")


def test_a_dimension_that_does_not_exist_is_wrong_usage(tmp_path: Path) -> None:
    result = CommandLine(tmp_path).run("spend", "--by", "colour")
    assert result.exit_code == 2
    assert "'team', 'app', 'feature'" in result.stderr


def test_savings_are_told_by_lever(shell: CommandLine) -> None:
    total = shell.json("spend")["total"]
    levers = {name: total[f"saved_{name}_usd"] for name in ("cache", "prefix", "routing")}
    assert levers == {"cache": "0.000000001", "prefix": "0.00", "routing": "0.00"}
    table = shell.run("spend", COLUMNS="160").stdout
    assert "Saved by cache 0.000000001, prefix 0.00, routing 0.00" in table


def test_what_was_written_to_a_providers_cache_in_vain_is_listed_by_app_and_feature(tmp_path: Path) -> None:
    wrote = replace(attempt(usd("0.25"), Usage(cache_write=1_000_000)), prefix_wrote="0123456789abcdef:1000000")

    async def write() -> None:
        asked = opening("r1", at=datetime.now(UTC), feature="faq")
        ended = Settlement(outcome="ok", status=200, attempts=(wrote,))
        async with fresh_database(tmp_path) as database, LedgerWriter(database, tmp_path / "spool") as writer:
            writer.append(
                LedgerEvent(kind=EventKind.SETTLED, opening=asked, cost=ended.cost, settlement=ended, status=200),
                LedgerAttempt("r1", 1, wrote),
            )

    asyncio.run(write())
    shell = CommandLine(tmp_path)
    premium = (wrote.price.rate("cache_write") - wrote.price.rate("fresh_input")).usd
    (row,) = shell.json("spend", "--unread")["rows"]
    assert (row["feature"], row["writes"], row["tokens"], row["cost_usd"]) == ("faq", 1, 1_000_000, premium)
    assert f"Cache writes never read: {premium} USD" in shell.run("spend", "--unread", COLUMNS="160").stdout
    assert shell.run("spend", "--unread", "--by", "model").exit_code == 2
