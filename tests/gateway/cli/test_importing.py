import json
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine

CONFIG = "model_list: [{model_name: gpt, litellm_params: {model: openai/gpt-4.1, rpm: 3}}]\n"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(CONFIG)
    return path


def test_the_policy_goes_to_standard_output_and_the_list_beside_it(tmp_path: Path, config: Path) -> None:
    result = CommandLine(tmp_path).run("import", "litellm", str(config))
    assert result.exit_code == 0
    assert result.stdout.startswith("# A policy made by")
    assert f"{config}:1: left out: model_list[0].litellm_params.rpm: " in result.stderr
    assert result.stderr.endswith("Set in the environment: OPENAI_API_KEY.\n")


def test_what_was_written_passes_the_check(tmp_path: Path, config: Path) -> None:
    shell, output = CommandLine(tmp_path), tmp_path / "policy.yaml"
    result = shell.run("import", "litellm", str(config), "--output", str(output))
    assert result.exit_code == 0, result.output
    assert "left out: model_list[0].litellm_params.rpm" in result.stdout
    check = shell.run("policy", "check", str(output))
    assert check.exit_code == 0, check.output


def test_a_file_that_exists_is_left_alone(tmp_path: Path, config: Path) -> None:
    result = CommandLine(tmp_path).run("import", "litellm", str(config), "-o", str(config))
    assert (result.exit_code, result.stderr) == (1, f"Error: File exists: {config}.\n")
    assert config.read_text() == CONFIG


def test_programs_get_all_of_it(tmp_path: Path, config: Path) -> None:
    result = CommandLine(tmp_path).run("import", "litellm", str(config), "--json")
    told = json.loads(result.stdout)
    assert told["variables"] == ["OPENAI_API_KEY"]
    assert told["policy"].startswith("# A policy made by")
    assert {"line", "path", "carried", "sentence"} == told["remarks"][0].keys()


@pytest.mark.parametrize("content", [b"version: 1\n", b"\xff\xfe", None])
def test_what_is_no_config_is_one_clear_line(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "config.yaml"
    if content is not None:
        path.write_bytes(content)
    result = CommandLine(tmp_path).run("import", "litellm", str(path))
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {path}")
    assert result.stderr.count("\n") == 1
