import json
from pathlib import Path

import jsonschema

from tests.support.command_line import CommandLine

EXAMPLE = Path(__file__).parents[2] / "support" / "policies" / "example.yaml"


def test_a_valid_policy_is_status_0_with_its_warnings_and_what_is_not_yet_obeyed(tmp_path: Path) -> None:
    result = CommandLine(tmp_path).run("policy", "check", str(EXAMPLE), OPENAI_API_KEY="", ANTHROPIC_API_KEY="")
    assert result.exit_code == 0, result.output
    assert ": not yet obeyed: " in result.stdout
    assert f"{EXAMPLE}: valid, version " in result.stdout.splitlines()[-1]


def test_without_a_file_the_policy_in_force_is_checked(tmp_path: Path) -> None:
    assert CommandLine(tmp_path).json("policy", "check")["source"] == "built-in starter policy"
    (tmp_path / "policy.yaml").write_text(EXAMPLE.read_text())
    assert CommandLine(tmp_path).json("policy", "check")["source"] == str(tmp_path / "policy.yaml")


def test_an_invalid_policy_is_status_1_with_every_problem_and_its_place(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("version: 1\nteams: 3\n")
    result = CommandLine(tmp_path).run("policy", "check", str(bad))
    assert result.exit_code == 1
    assert f"{bad}:2:8: teams: should be a list" in result.stdout
    told = json.loads(CommandLine(tmp_path).run("policy", "check", str(bad), "--json").stdout)
    assert told["ok"] is False
    assert {(problem["line"], problem["column"]) for problem in told["problems"]} >= {(2, 8)}


def test_a_file_that_does_not_exist_is_a_problem_in_one_line(tmp_path: Path) -> None:
    result = CommandLine(tmp_path).run("policy", "check", str(tmp_path / "absent.yaml"))
    assert result.exit_code == 1
    assert "absent.yaml:1:1: cannot be read: No such file or directory" in result.stdout


def test_the_schema_is_a_json_schema(tmp_path: Path) -> None:
    schema = json.loads(CommandLine(tmp_path).run("policy", "schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema == CommandLine(tmp_path).json("policy", "schema")
