import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import click
import pytest

from gateway.cli import sluice
from gateway.cli.terminal import Duration
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
    assert "PORT: " in result.stderr
    assert "WORKERS: " in result.stderr


def test_an_error_is_one_line_and_status_1_and_debug_shows_where_it_comes_from(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("not a folder")
    result = CommandLine(home).run("spend")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.startswith("Error: File exists")
    assert isinstance(CommandLine(home).run("--debug", "spend").exception, FileExistsError)


def test_a_database_of_an_unknown_kind_is_named_without_a_traceback(tmp_path: Path) -> None:
    result = CommandLine(tmp_path).run("spend", DATABASE_URL="mysql://user:secret@host/db")
    assert result.stderr == "Error: The store is unavailable: mysql is neither sqlite nor postgresql.\n"
    assert result.exit_code == 1
