import json
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.policy_texts import EXAMPLE

STATED = "{input: 15.00, cached_input: 1.50, cache_write: 18.75, output: 75.00}"


@pytest.fixture
def shell(tmp_path: Path) -> CommandLine:
    (tmp_path / "policy.yaml").write_text(EXAMPLE.read_text())
    return CommandLine(tmp_path)


def test_prices_are_listed_for_people_and_programs(shell: CommandLine) -> None:
    result = shell.run("prices", "list")
    assert result.exit_code == 0, result.output
    line = next(line for line in result.stdout.splitlines() if line.startswith("opus"))
    assert line.split()[:4] == ["opus", "15.00", "1.50", "75.00"]
    assert "measured by the gateway @0.20 USD/h" in result.stdout
    models = {model["name"]: model for model in shell.json("prices", "list")["models"]}
    assert models["gpt-mini"]["price"]["rates"]["input"] == "0.40"
    assert models["gpt-mini"]["price"]["source"].startswith("list:genai-prices ")


def test_prices_in_order_are_status_0_and_prices_in_doubt_status_1(shell: CommandLine) -> None:
    policy = shell.home / "policy.yaml"
    policy.write_text(policy.read_text().replace("input: 15.00", "input: 14.00"))
    assert shell.run("prices", "check").exit_code == 0
    result = shell.run("prices", "check", "--margin", "5")
    assert result.exit_code == 1
    assert "opus: input is 14.00 USD, and 15.00 in the price book" in result.stdout
    told = json.loads(shell.run("prices", "check", str(policy), "--margin", "5", "--json").stdout)
    assert (told["ok"], told["doubts"][0]["model"]) == (False, "opus")


def test_a_price_is_shown_before_it_is_written_and_nothing_else_changes(shell: CommandLine) -> None:
    policy = shell.home / "policy.yaml"
    before = policy.read_text()
    verb = ("prices", "set", "opus", "--input", "12", "--cached-input", "1.2", "--output", "60")
    result = shell.run(*verb)
    assert result.exit_code == 0, result.output
    new = "{input: 12.00, cached_input: 1.20, output: 60.00}"
    assert f"+    price: {new}" in result.stdout
    assert policy.read_text() == before
    policy.chmod(0o640)
    assert shell.json(*verb, "--write")["written"] is True
    assert policy.read_text() == before.replace(STATED, new)
    assert policy.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in shell.home.iterdir() if path.name.startswith(".policy")] == []


def test_a_later_price_keeps_those_before(shell: CommandLine) -> None:
    result = shell.run("prices", "set", "opus", "--input", "12", "--output", "60", "--from", "2099-01-01", "--write")
    assert result.exit_code == 0, result.output
    opus = shell.json("prices", "list")["models"][-1]
    assert (opus["price"]["rates"]["input"], opus["until"]) == ("15.00", "2099-01-01T00:00:00+00:00")


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (["opus", "--output", "1"], 2, "A price needs --input."),
        (["opus", "--input", "a lot"], 2, "--input is no amount in USD"),
        (["absent", "--input", "1", "--output", "1"], 1, "has no model 'absent'"),
        (["opus", "--input", "1"], 1, 'needs "output"'),
        (["opus", "--input", "1", "--output", "99999"], 1, "USD for a million tokens, at most 10000"),
        (["gpt", "--input", "1", "--output", "1", "--from", "2027-01-01"], 1, "its price is 'list' until then"),
    ],
)
def test_a_price_that_cannot_be_set_is_refused_and_the_file_stays(
    shell: CommandLine, arguments: list[str], status: int, told: str
) -> None:
    before = (shell.home / "policy.yaml").read_text()
    result = shell.run("prices", "set", *arguments, "--write")
    assert (result.exit_code, told in result.output) == (status, True), result.output
    assert (shell.home / "policy.yaml").read_text() == before


def test_there_must_be_a_file_to_set_a_price_in(tmp_path: Path) -> None:
    result = CommandLine(tmp_path).run("prices", "set", "smollm2", "--input", "1", "--output", "1")
    assert (result.exit_code, "There is no policy file" in result.output) == (2, True)
