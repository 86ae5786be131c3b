"""`sluice policy diff`, `plan` and `replay` over a ledger that a gateway left behind."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
import time_machine

from tests.support.command_line import CommandLine
from tests.support.databases import fresh_database, write
from tests.support.past_traffic import Past, Recorder
from tests.support.policy_texts import AT, read

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

TEXT = """\
version: 1
providers:
  engine: {kind: engine, machine_usd_per_hour: 0.20}
tiers: [local, cloud]
models:
  - {name: small, provider: engine, model: s, tier: local, price: {input: 100, output: 200}}
  - {name: large, provider: engine, model: l, tier: cloud, price: {input: 100, output: 200}}
routes: [{name: auto, weak: small, strong: large}]
teams:
  - {name: search, budgets: [{limit: 25, window: quarter}], apps: [{name: web}]}
  - {name: quiet, budgets: [{limit: 25, window: quarter}], apps: [{name: web}]}
"""
CALL = Past(60, "search", "web", "large", 1000, 500, 0, 1.0)  # 0.20 USD


@pytest.fixture
def home(tmp_path: Path) -> Generator[Path]:
    """A home with a policy in force, and ten calls of one team that began an hour ago; no window ends meanwhile."""
    with time_machine.travel(AT):
        asyncio.run(_spend(tmp_path))
        (tmp_path / "policy.yaml").write_text(TEXT)
        yield tmp_path


async def _spend(home: Path) -> None:
    policy = read(TEXT)
    recorder = Recorder(policy, dict(policy.prices), at=AT - timedelta(hours=1))
    await recorder.record([CALL] * 10)
    async with fresh_database(home) as database:
        await write(database, *recorder.ledger.entries)


def edit(home: Path, old: str, new: str) -> str:
    assert old in TEXT
    path = home / "next.yaml"
    path.write_text(TEXT.replace(old, new))
    return str(path)


def test_a_diff_says_what_changes_and_is_status_0(home: Path) -> None:
    new = edit(home, "output: 200}}\nroutes", "output: 300}}\nroutes")
    result = CommandLine(home).run("policy", "diff", str(home / "policy.yaml"), new)
    assert result.stdout == "~ price models.large.price.output: 200.00 -> 300.00\n"
    assert result.exit_code == 0
    assert CommandLine(home).run("policy", "diff", new, new).stdout == "no difference\n"


def test_a_plan_says_where_a_budget_stands_and_refuses_only_those_who_spend(home: Path) -> None:
    new = edit(home, "limit: 25", "limit: 1.50")
    result = CommandLine(home).run("policy", "plan", new)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "~ budget team:quiet per quarter: 25.00 USD -> 1.50 USD",
        "~ budget team:search per quarter: 25.00 USD -> 1.50 USD",
        "team:quiet has spent 0.00 of 25.00 this quarter: the new limit 1.50 leaves 1.50",
        "team:search has spent 2.00 of 25.00 this quarter: the new limit 1.50 is already passed",
        "team:search would be refused: its budget of 1.50 per quarter is spent (2.00) (spent 2.00 in the last 7 days)",
    ]
    assert CommandLine(home).run("policy", "plan", new, "--check").exit_code == 1


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("apps: [{name: web}]}\n  - {name: quiet", "apps: []}\n  - {name: quiet", "the policy has no such app"),
        ("{name: search,", "{name: search, tiers: [local],", "it may no longer use large"),
    ],
)
def test_who_loses_the_app_or_the_model_they_used_would_be_refused(home: Path, old: str, new: str, why: str) -> None:
    facts = CommandLine(home).json("policy", "plan", edit(home, old, new))
    assert facts["refused"] == [{"scope": "app:search/web", "why": why, "spent_usd": "2.00"}]
    checked = CommandLine(home).run("policy", "diff", str(home / "policy.yaml"), str(home / "next.yaml"), "--check")
    assert checked.exit_code == 1


def test_a_change_that_hurts_nobody_passes_the_check(home: Path) -> None:
    new = edit(home, "{name: quiet,", "{name: quiet, tiers: [local],")
    assert CommandLine(home).run("policy", "plan", new, "--check").exit_code == 0


def test_a_replay_of_the_policy_in_force_changes_nothing(home: Path) -> None:
    facts = CommandLine(home).json("policy", "replay", str(home / "policy.yaml"))
    assert facts["changed"] is False
    assert facts["teams"]["search"]["requests"] == 10
    assert facts["teams"]["search"]["recorded_usd"] == facts["teams"]["search"]["replayed_usd"] == "2.00"


def test_a_replay_says_what_would_have_been_refused_and_saved(home: Path) -> None:
    new = edit(home, "{name: search, budgets: [{limit: 25,", "{name: search, budgets: [{limit: 1.50,")
    facts = CommandLine(home).json("policy", "replay", new)["teams"]["search"]
    assert (facts["refused"], facts["saved_usd"]) == (3, "0.60")
    result = CommandLine(home).run("policy", "replay", new, "--team", "search")
    assert result.exit_code == 0, result.output
    assert "3 stopped: team:search per quarter" in result.stdout
    assert "quiet" not in result.stdout


def test_a_replay_says_what_would_have_moved_and_what_it_cannot_know(home: Path) -> None:
    old = "{name: search, budgets: [{limit: 25, window: quarter}]"
    new = edit(home, old, "{name: search, budgets: [{limit: 1, window: quarter, steps: {50%: downgrade}}]")
    (home / "next.yaml").write_text(
        f"{(home / 'next.yaml').read_text()}cache: {{exact: {{ttl: 1h, shared_by: app}}}}\n"
    )
    result = CommandLine(home).run("policy", "replay", new)
    assert result.exit_code == 0, result.output
    # 0.00, 0.20 and 0.40 of 1.00 are spent before the first three.
    assert "7 moved from large to small (budget:downgrade)\n" in result.stdout
    assert "left as it was: cache.exact: what a wider cache" in result.stdout
    assert CommandLine(home).json("policy", "replay", new)["total"]["moves"] == [
        {"from": "large", "to": "small", "why": "budget:downgrade", "calls": 7}
    ]


def test_a_replay_begins_where_the_budgets_stood(home: Path) -> None:
    new = edit(home, "{name: search, budgets: [{limit: 25,", "{name: search, budgets: [{limit: 1.50,")
    facts = CommandLine(home).json("policy", "replay", new, "--since", "55m")["teams"]["search"]
    assert (facts["requests"], facts["refused"]) == (5, 3)


def test_a_policy_that_is_none_is_told_with_its_places(home: Path) -> None:
    new = edit(home, "limit: 25", "limit: 0")
    for verb in (("plan", new), ("replay", new), ("diff", new, new)):
        result = CommandLine(home).run("policy", *verb)
        assert result.exit_code == 1
        assert "next.yaml:10:38: teams.search.budgets[0].limit: should be more than 0" in result.stderr
