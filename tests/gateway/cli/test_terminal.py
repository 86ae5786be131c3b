import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import click
import pytest

from gateway.cli import sluice
from gateway.cli.terminal import Duration, show_json
from gateway.errors import CannotServe
from tests.support.command_line import CommandLine


def verbs(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from verbs(command, (*path, name))
        else:
            yield (*path, name), command


EVERY_VERB = [pytest.param(path, command, id=" ".join(path)) for path, command in verbs(sluice)]


@pytest.mark.parametrize(("path", "command"), EVERY_VERB)
def test_every_verb_has_help_with_an_example_and_json(path: tuple[str, ...], command: click.Command) -> None:
    assert command.help
    assert f"sluice {' '.join(path)}" in (command.epilog or "")
    passes_options_on = command.context_settings.get("allow_extra_args", False)
    assert passes_options_on or any("--json" in parameter.opts for parameter in command.params)


@pytest.mark.parametrize("verb", ["", "up", "serve", "keys create", "spend", "policy check", "doctor"])
def test_help_needs_none_of_the_heavy_libraries(verb: str) -> None:
    looking = (
        "import sys; from gateway.cli import sluice\n"
        "sluice.main(sys.argv[1:], standalone_mode=False)\n"
        "print(sorted({'torch', 'sqlalchemy', 'fastapi', 'pydantic', 'yaml', 'rich'} & set(sys.modules)))"
    )
    shown = subprocess.run(  # noqa: S603  (our own interpreter and words)
        [sys.executable, "-c", looking, *verb.split(), "--help"], capture_output=True, text=True, check=True
    )
    assert shown.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("text", "length"),
    [("90m", timedelta(minutes=90)), ("12h", timedelta(hours=12)), ("30d", timedelta(days=30)), ("2w", timedelta(14))],
)
def test_a_duration_is_a_number_and_a_unit(text: str, length: timedelta) -> None:
    assert Duration().convert(text, None, None) == length


@pytest.mark.parametrize("text", ["", "30", "d", "0d", "-1d", "1.5h", "30 d", "1y", "99999w", "٣d"])
def test_what_is_no_duration_is_wrong_usage(text: str, tmp_path: Path) -> None:
    result = CommandLine(tmp_path).run("spend", f"--since={text}")
    assert result.exit_code == 2
    assert "Invalid value for '--since'" in result.stderr


def test_mistakes_in_the_environment_are_wrong_usage_and_named(tmp_path: Path) -> None:
    result = CommandLine(tmp_path).run("spend", PORT="99999", WORKERS="none")
    assert result.exit_code == 2
    assert result.stderr.endswith(
        "The environment has mistakes: PORT should be at most 65535; WORKERS should be a whole number.\n"
    )


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("PORT", "abc", "PORT should be a whole number."),
        ("PORT", "-1", "PORT should be at least 0."),
        ("SLUICE_LOG_LEVEL", "loud", "SLUICE_LOG_LEVEL should be debug, info, warning or error."),
        (
            "SLUICE_ENGINE_URL",
            "ftp://x:hunter2@y",
            "SLUICE_ENGINE_URL should be unix:/path/of/the/socket or http(s)://",
        ),
    ],
)
def test_a_mistake_in_the_environment_is_told_in_plain_words(name: str, value: str, told: str, tmp_path: Path) -> None:
    result = CommandLine(tmp_path).run("spend", **{name: value})
    assert told in result.stderr
    assert "hunter2" not in result.stderr


def test_json_holds_nothing_that_a_terminal_would_obey(capsys: pytest.CaptureFixture[str]) -> None:
    facts = {"name": "\x1b[31m\x9b0m é \U000e0001"}
    show_json(facts)
    text = capsys.readouterr().out
    assert text.replace("\n", "").isprintable()
    assert "é" in text
    assert json.loads(text) == facts


def test_an_error_is_one_line_and_status_1_and_debug_shows_where_it_comes_from(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("not a folder")
    result = CommandLine(home).run("spend")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.endswith("home is a file; give it a folder that may be written: SLUICE_HOME=…\n")
    assert isinstance(CommandLine(home).run("--debug", "spend").exception, CannotServe)


def test_a_database_of_an_unknown_kind_is_named_without_a_traceback(tmp_path: Path) -> None:
    result = CommandLine(tmp_path).run("spend", DATABASE_URL="mysql://user:secret@host/db")
    assert result.stderr == "Error: The store is unavailable: mysql is neither sqlite nor postgresql.\n"
    assert result.exit_code == 1
