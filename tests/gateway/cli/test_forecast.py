"""`sluice spend --forecast` on a ledger of five weeks, at noon of Thursday, the 26th of November."""

import asyncio
from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine

from gateway.policy.source import starter_text
from governance.ledger.events import EventKind, LedgerEvent
from tests.support.command_line import CommandLine
from tests.support.databases import fresh_database, write
from tests.support.requests import opening, usd

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
BUDGETS = """
budgets:
  - {limit: 200, window: month, scope: org}
  - {limit: 5, window: 7d, scope: "team:demo"}
  - {limit: 4, window: day, scope: "team:demo", each: user}
  - {limit: 1, window: session, scope: "app:demo/demo"}
"""


async def fill(home: Path) -> None:
    """Spend 10 USD at noon of every working day of five weeks, and 6 this morning; twelve users have part in that."""
    days = [NOW - timedelta(days=n) for n in range(1, 36)]
    spent = [(day, "10", "ada") for day in days if day.weekday() < 5]
    spent += [(NOW - timedelta(hours=3), "0.5", f"user{n:02}") for n in range(12)]
    events = [
        LedgerEvent(
            kind=EventKind.SETTLED, opening=opening(f"r{n}", at, team="demo", app="demo", user=user), cost=usd(cost)
        )
        for n, (at, cost, user) in enumerate(spent)
    ]
    async with fresh_database(home) as database:
        await write(database, *events)


@pytest.fixture
def shell(tmp_path: Path) -> Generator[CommandLine]:
    (tmp_path / "policy.yaml").write_text(starter_text() + BUDGETS)
    asyncio.run(fill(tmp_path))
    with time_machine.travel(NOW, tick=False):
        yield CommandLine(tmp_path)


def budget(shell: CommandLine, scope: str) -> dict[str, Any]:
    return next(one for one in shell.json("spend", "--forecast")["budgets"] if one["scope"] == scope)


def test_a_month_is_foretold_in_a_straight_line_and_by_its_weekdays(shell: CommandLine) -> None:
    # Eighteen working days have gone by, today's morning came to 6; a half of today, Friday and Monday are to come.
    assert budget(shell, "org") == {
        "scope": "org",
        "window": "month",
        "limit_usd": "200.00",
        "spent_usd": "186.00",
        "resets_at": "2026-12-01T00:00:00+00:00",
        "linear_usd": "218.823529411",
        "weekday_usd": "211.00",
        "forecast_by": "weekday",
        "runs_out_at": "2026-11-27T21:36:00+00:00",
    }


def test_a_rolling_window_has_no_end_to_foretell(shell: CommandLine) -> None:
    found = budget(shell, "team:demo")
    assert (found["window"], found["linear_usd"], found["weekday_usd"], found["runs_out_at"]) == (
        "7d",
        None,
        None,
        None,
    )


def test_of_a_budget_for_each_value_those_that_spent_most_are_listed_and_all_counted(shell: CommandLine) -> None:
    report = shell.json("spend", "--forecast")
    users = [one["scope"] for one in report["budgets"] if "?user=" in one["scope"]]
    assert len(users) == 10
    assert report["values"] == [
        {"scope": "team:demo", "each": "user", "window": "day", "count": 12},
        {"scope": "app:demo/demo", "each": "session", "window": "session", "count": 0},
    ]


def test_a_keys_own_budget_is_among_them(shell: CommandLine) -> None:
    made = shell.json("keys", "create", "--team", "demo", "--app", "demo", "--budget", "5/36h")
    found = budget(shell, f"key:{made['id']}")
    assert (found["window"], found["limit_usd"], found["spent_usd"]) == ("36h", "5.00", "0.00")
    shell.run("keys", "revoke", made["id"])
    assert f"key:{made['id']}" not in shell.run("spend", "--forecast").stdout


def test_people_read_a_table_and_what_it_leaves_out(shell: CommandLine) -> None:
    lines = [" ".join(line.split()) for line in shell.run("spend", "--forecast", COLUMNS="160").stdout.splitlines()]
    assert lines[:3] == [
        "Budget Window Limit Spent Linear By weekday Runs out",
        "org month 200.00 186.00 218.82 211.00 2026-11-27 21:36",
        "team:demo 7d 5.00 56.00 - - is spent",
    ]
    assert "team:demo, user user11 day 4.00 0.50 1.00 - -" in lines
    assert lines[-3].startswith("USD; 2026-11-26 12:00 UTC, policy ")
    assert lines[-2:] == [
        "4.00 per day for each user of team:demo: 12 have spent; the 10 that spent most are shown.",
        "1.00 for each session of app:demo/demo: nobody has spent from it.",
    ]


def test_a_policy_without_budgets_says_so(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(starter_text().replace("budgets: [{limit: 1, window: day}]", ""))
    shell = CommandLine(tmp_path)
    assert shell.run("spend", "--forecast").stdout == "Neither the policy in force nor any key has a budget.\n"


@pytest.mark.parametrize("option", [("--by", "team"), ("--since", "7d")])
def test_what_has_no_meaning_beside_a_forecast_is_wrong_usage(tmp_path: Path, option: tuple[str, str]) -> None:
    result = CommandLine(tmp_path).run("spend", "--forecast", *option)
    assert result.exit_code == 2
    assert f"{option[0]} has no meaning with --forecast" in result.stderr
