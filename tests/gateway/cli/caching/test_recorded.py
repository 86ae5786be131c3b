"""`sluice cache evaluate` on the record: the curve, the advice, and the edit shown before it is made."""

import asyncio
from pathlib import Path

import pytest

from cache.learning.lookups import Action
from governance.lookups.records import Lookup, Lookups
from tests.support.command_line import CommandLine
from tests.support.databases import fresh_database
from tests.support.policy_texts import SMALL
from tests.support.recorded_lookups import found, missed

SEMANTIC = """\
cache:
  semantic:  # by meaning
    observe: [bot/faq]
    max_error: 0.05  # ours
    ttl: 7d
"""


@pytest.fixture
def shell(tmp_path: Path) -> CommandLine:
    """A home whose gateway watched a feature that is worth serving."""
    lookups = [*[found(Action.EXPLORE, feature="demo/bot/faq")] * 400, *[missed("demo/bot/faq")] * 400]
    asyncio.run(write(tmp_path, lookups))
    (tmp_path / "policy.yaml").write_text(SMALL + SEMANTIC)
    return CommandLine(tmp_path)


async def write(folder: Path, lookups: list[Lookup]) -> None:
    async with fresh_database(folder) as database:
        await Lookups(database).write(lookups)


def test_the_curve_and_the_edit_are_shown_and_nothing_is_written(shell: CommandLine) -> None:
    before = (shell.home / "policy.yaml").read_text()
    result = shell.run("cache", "evaluate")
    assert result.exit_code == 0, result.output
    assert "5.00% (policy)" in result.stdout
    assert "demo/bot/faq: Serve it: 50.0% of look-ups can be, within the bound." in result.stdout
    assert [line for line in result.stdout.splitlines() if line[:1] in {"+", "-"} and line[1:2] == " "] == [
        "-    observe: [bot/faq]",
        "+    enabled: [bot/faq]",
        "+    observe: []",
    ]
    assert result.stdout.endswith("Nothing is written yet: --write does.\n")
    assert (shell.home / "policy.yaml").read_text() == before


def test_a_program_is_told_the_same(shell: CommandLine) -> None:
    told = shell.json("cache", "evaluate")
    (feature,) = told["features"]
    assert (feature["feature"], feature["lookups"], feature["move"]) == ("demo/bot/faq", 800, "enable")
    assert [point["max_error"] for point in feature["curve"]] == [0.0025, 0.005, 0.01, 0.02, 0.05, 0.1]
    assert (told["written"], bool(told["change"])) == (False, True)


def test_the_edit_is_made_where_that_is_wanted_and_only_there(shell: CommandLine) -> None:
    policy = shell.home / "policy.yaml"
    policy.write_text(policy.read_text().replace("observe: [bot/faq]", "enabled: []\n    observe: [bot/faq]  # soon"))
    before = policy.read_text()
    assert shell.run("cache", "evaluate", "--write").stdout.endswith(f"Written to {policy}.\n")
    assert policy.read_text() == before.replace("enabled: []", "enabled: [bot/faq]").replace(
        "observe: [bot/faq]", "observe: []"
    )
    assert "The policy need not change." in shell.run("cache", "evaluate").stdout


def test_a_list_with_comments_is_left_to_its_writer(shell: CommandLine) -> None:
    policy = shell.home / "policy.yaml"
    policy.write_text(policy.read_text().replace("[bot/faq]", "[  # since May\n      bot/faq]"))
    before = policy.read_text()
    result = shell.run("cache", "evaluate", "--write")
    assert (result.exit_code, "Serve it" in result.stdout) == (1, True), result.output
    assert "cache.semantic.observe has comments in it, which would be lost: write it by hand." in result.stderr
    assert policy.read_text() == before


def test_another_policy_may_be_held_against_the_record(shell: CommandLine) -> None:
    other = shell.home / "next.yaml"
    other.write_text(SMALL + SEMANTIC.replace("observe", "enabled").replace("0.05", "0.01"))
    result = shell.run("cache", "evaluate", "--policy", str(other))
    assert "demo/bot/faq: Leave it as it is." in result.stdout
    assert "1.00% (policy)" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--pairs", "policy.yaml", "--write"], "go with the record"),
        (["--pairs", "policy.yaml", "--policy", "policy.yaml"], "go with the record"),
        (["--policy", "absent.yaml"], "does not exist"),
    ],
)
def test_wrong_usage_is_told(shell: CommandLine, arguments: list[str], told: str) -> None:
    there = [str(shell.home / one) if one.endswith(".yaml") else one for one in arguments]
    result = shell.run("cache", "evaluate", *there)
    assert (result.exit_code, told in result.output) == (2, True), result.output


def test_a_policy_without_a_semantic_cache_has_nothing_to_evaluate(shell: CommandLine) -> None:
    (shell.home / "policy.yaml").write_text(SMALL)
    result = shell.run("cache", "evaluate")
    assert (result.exit_code, "name features in its `observe`" in result.output) == (2, True)


def test_an_empty_record_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(SMALL + SEMANTIC)
    shell = CommandLine(tmp_path)
    assert shell.run("cache", "evaluate").stdout == "No look-up of the semantic cache is on record yet.\n"
    assert shell.json("cache", "evaluate") == {"features": [], "change": [], "written": False}
