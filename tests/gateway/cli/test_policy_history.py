"""`sluice policy apply`, `rollback`, `history`, `show` and `shadow`, beside no gateway at all."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from governance.audit import log
from tests.support.command_line import CommandLine
from tests.support.databases import fresh_database

if TYPE_CHECKING:
    from pathlib import Path

    from governance.audit.chain import Entry
    from governance.audit.log import Proof

TEXT = """\
version: 1
providers:
  engine: {kind: engine, machine_usd_per_hour: 0.20}
tiers: [local]
models:
  - {name: small, provider: engine, model: s, tier: local, price: {input: 100, output: 200}}
routes: [{name: auto, weak: small, strong: small}]
teams:
  - {name: search, budgets: [{limit: 25, window: month}], apps: [{name: web}]}
"""
SECRET = "sk-written-out-0123456789"


@pytest.fixture
def shell(tmp_path: Path) -> CommandLine:
    (tmp_path / "policy.yaml").write_text(TEXT)
    return CommandLine(tmp_path)


def edited(shell: CommandLine, limit: str) -> str:
    path = shell.home / f"next{limit}.yaml"
    path.write_text(TEXT.replace("limit: 25", f"limit: {limit}"))
    return str(path)


async def audited(home: Path) -> tuple[tuple[Entry, ...], Proof]:
    async with fresh_database(home) as database:
        return await log.entries(database, 100), await log.verify(database)


def test_a_policy_that_is_applied_is_written_down_with_what_changes(shell: CommandLine) -> None:
    first = shell.run("policy", "apply")
    assert first.stdout == "no policy was in force before\n"
    assert "is in force; running gateways follow within a second." in first.stderr
    second = shell.run("policy", "apply", edited(shell, "15"), "--note", "less for search")
    assert second.stdout == "~ budget team:search per month: 25.00 USD -> 15.00 USD\n"
    newest, before = shell.json("policy", "history")
    assert (newest["id"], newest["mode"], newest["note"]) == (2, "active", "less for search")
    assert (newest["source"], before["source"]) == (edited(shell, "15"), str(shell.home / "policy.yaml"))
    entries, proof = asyncio.run(audited(shell.home))
    assert (entries[0].act, entries[0].subject) == ("policy.applied", newest["version"])
    assert entries[0].facts["before"] == before["version"]
    assert entries[0].facts["changes"] == ["~ budget team:search per month: 25.00 USD -> 15.00 USD"]
    assert proof.broken is None


def test_a_policy_that_is_none_is_told_with_its_places_and_changes_nothing(shell: CommandLine) -> None:
    result = shell.run("policy", "apply", edited(shell, "0"))
    assert result.exit_code == 1
    assert "next0.yaml:9:38: teams.search.budgets[0].limit: should be more than 0" in result.stderr
    assert shell.json("policy", "history") == []
    assert "No policy was ever put in force" in shell.run("policy", "history").stdout


def test_a_rollback_puts_the_one_before_in_force_again_or_the_one_that_is_named(shell: CommandLine) -> None:
    versions = [shell.json("policy", "apply", edited(shell, limit))["version"] for limit in ("10", "20", "30")]
    back = shell.json("policy", "rollback")
    assert (back["version"], back["before"]) == (versions[1], versions[2])
    assert back["changes"] == ["~ budget team:search per month: 30.00 USD -> 20.00 USD"]
    named = shell.json("policy", "rollback", versions[0][:6])
    assert (named["version"], named["source"]) == (versions[0], f"rollback to {versions[0]}")
    assert [row["version"] for row in shell.json("policy", "history")] == [
        versions[0], versions[1], *reversed(versions),
    ]  # fmt: skip
    assert asyncio.run(audited(shell.home))[1].entries == 5


def test_a_rollback_without_a_past_says_so(shell: CommandLine) -> None:
    nothing = shell.run("policy", "rollback")
    assert nothing.exit_code == 1
    assert "There is no policy to roll back to" in nothing.stderr
    unknown = shell.run("policy", "rollback", "abcdef")
    assert "No policy is named by 'abcdef': the history has none; `sluice policy history` lists all." in unknown.stderr


def test_versions_of_the_past_can_be_shown_and_compared(shell: CommandLine) -> None:
    first = shell.json("policy", "apply")["version"]
    second = shell.json("policy", "apply", edited(shell, "15"))["version"]
    assert shell.run("policy", "show", first).stdout == TEXT
    assert "limit: 15" in shell.run("policy", "show").stdout
    result = shell.run("policy", "diff", first, second[:5])
    assert result.stdout == "~ budget team:search per month: 25.00 USD -> 15.00 USD\n"
    mixed = shell.run("policy", "diff", str(shell.home / "policy.yaml"), second)
    assert mixed.stdout == result.stdout


def test_what_is_planned_is_held_against_the_policy_in_force_and_not_the_file(shell: CommandLine) -> None:
    shell.json("policy", "apply", edited(shell, "15"))
    plan = shell.run("policy", "plan", str(shell.home / "policy.yaml"))
    assert plan.stdout.startswith("~ budget team:search per month: 15.00 USD -> 25.00 USD\n")


def test_a_secret_that_is_written_out_is_noted_and_never_shown(shell: CommandLine) -> None:
    cloud = f"  cloud: {{kind: openai, zone: cloud, api_key: '{SECRET}'}}  # not {SECRET}!\n"
    (shell.home / "policy.yaml").write_text(TEXT.replace("tiers: [local]", f"{cloud}tiers: [local]"))
    applied = shell.run("policy", "apply")
    assert "name it as ${NAME} instead" in applied.stderr
    shown = shell.run("policy", "show")
    assert "kind: openai" in shown.stdout
    for result in (applied, shown, shell.run("policy", "show", "--json"), shell.run("policy", "history", "--json")):
        assert SECRET not in result.output
    assert SECRET not in str(asyncio.run(audited(shell.home)))


def test_a_policy_in_the_shade_governs_nothing_until_it_is_taken_away(shell: CommandLine) -> None:
    assert "No policy was ever tried" in shell.run("policy", "shadow").stdout
    shell.json("policy", "apply")
    shade = shell.run("policy", "apply", edited(shell, "15"), "--shadow")
    assert "is in the shade" in shade.stderr
    assert "limit: 25" in shell.run("policy", "show").stdout
    report = shell.json("policy", "shadow")
    assert (report["lasts"], report["changed"], report["shadow"]["mode"]) == (True, False, "shadow")
    assert "is tried no longer." in shell.run("policy", "shadow", "--off").stdout
    assert shell.run("policy", "shadow", "--off").stdout == "No policy is in the shade.\n"
    assert shell.json("policy", "shadow")["lasts"] is False
    acts = [entry.act for entry in asyncio.run(audited(shell.home))[0]]
    assert acts == ["policy.unshadowed", "policy.shadowed", "policy.applied"]


def test_the_doctor_says_when_the_policy_in_force_is_not_the_files(shell: CommandLine) -> None:
    def finding() -> dict[str, str]:
        found = json.loads(shell.run("doctor", "--json").stdout)["findings"]
        return next(one for one in found if one["name"] == "in force")

    applied = shell.json("policy", "apply")
    assert finding()["state"] == "ok"
    shell.json("policy", "apply", edited(shell, "15"))
    assert finding()["state"] == "warn"
    assert finding()["cure"] == f"Put it in force: sluice policy apply {shell.home / 'policy.yaml'}"
    assert applied["version"] not in finding()["detail"]
