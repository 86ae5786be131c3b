"""What all verbs share: the settings, the database, durations, and how an answer or an error is shown."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import json
import re
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from pydantic_core import ErrorDetails
    from rich.table import Table

    from gateway.settings import Settings
    from governance.audit.chain import Actor
    from governance.database import Database

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LONGEST = timedelta(days=3650)
_WIDEST = 10_000  # characters of a line
_ENDS = (".", "!", "?", "…")

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


class Sluice(click.Group):
    """The root of the command line: whatever goes wrong in a verb is one clear line and status 1."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit, BrokenPipeError):
            raise
        except Exception as error:
            if ctx.params["debug"]:
                raise
            raise click.ClickException(worded(error)) from error


class Duration(click.ParamType[timedelta]):
    """A length of time such as `90m`, `12h`, `30d` or `2w`, of at most ten years."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Read the text, or fail as wrong usage."""
        if isinstance(value, timedelta):
            return value
        match = re.fullmatch(r"([1-9]\d{0,5})([mhdw])", str(value))
        if match is None:
            self.fail(f"{value!r} is no duration; write 90m, 12h, 30d or 2w", param, ctx)
        length = timedelta(**{_UNITS[match[2]]: int(match[1])})
        if length > _LONGEST:
            self.fail(f"{value!r} is more than ten years", param, ctx)
        return length


def settings() -> Settings:
    """Read the settings from the environment; a mistake there is wrong usage."""
    from pydantic import ValidationError

    from gateway.settings import Settings

    try:
        return Settings()
    except ValidationError as invalid:
        faults = "; ".join(f"{_variable(fault['loc'][0])} {_fault(fault)}" for fault in invalid.errors())
        raise click.UsageError(f"The environment has mistakes: {faults}.") from invalid


def _variable(field: int | str) -> str:
    """Name the variable of a field; pydantic names the field where its default is at fault, else the variable."""
    return str(field).upper()


def _fault(fault: ErrorDetails) -> str:
    """Word a mistake for who set the variable; what it was set to is not repeated, for it may be a secret."""
    limits = fault.get("ctx", {})
    match fault["type"]:
        case "int_parsing" | "int_type":
            return "should be a whole number"
        case "less_than_equal":
            return f"should be at most {limits['le']}"
        case "greater_than_equal":
            return f"should be at least {limits['ge']}"
        case "literal_error":
            return f"should be {limits['expected'].replace(chr(39), '')}"
        case _:
            return fault["msg"].removeprefix("Value error, ")


@asynccontextmanager
async def ledger() -> AsyncGenerator[Database]:
    """Open the database that a gateway of these settings uses; see `open_ledger` for what it raises."""
    from gateway.operations.ledger import open_ledger

    async with open_ledger(settings()) as database:
        yield database


def operator() -> Actor:
    """How the audit log names whoever types: the system's user, who may do all that the files' modes allow."""
    import getpass

    from governance.audit.chain import Actor

    return Actor(f"cli:{getpass.getuser()}", "operator")


def now() -> datetime:
    """Return the present instant, for verbs to pass on."""
    return datetime.now(UTC)


def show_json(facts: object) -> None:
    """Print one JSON document."""
    text = json.dumps(facts, indent=2, ensure_ascii=False)
    click.echo(re.sub(r"[^\n -~]+", lambda found: _escaped(found[0]), text))


def show_table(table: Table) -> None:
    """Print a table that cuts nothing off: a narrow terminal wraps its lines, and a pipe gets each row as one line."""
    from rich.console import Console

    console = Console()
    widest = console.options.update(max_width=_WIDEST)
    needed = console.measure(table, options=widest)
    console.width = max(console.width, needed.minimum if console.is_terminal else needed.maximum)
    console.print(table)


def replace_file(path: Path, text: str) -> None:
    """Replace a file whole, or not at all."""
    from shutil import copymode
    from tempfile import NamedTemporaryFile

    target = path.resolve()
    with NamedTemporaryFile("wb", dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
        file.write(text.encode())
    copymode(target, file.name)
    Path(file.name).replace(target)


def say(text: str) -> None:
    """Print a line beside the answer, on standard error."""
    click.echo(text, err=True)


def _escaped(text: str) -> str:
    """Escape what does not print, which JSON itself lets through above ASCII."""
    return "".join(character if character.isprintable() else json.dumps(character)[1:-1] for character in text)


def worded(error: Exception) -> str:
    """Word an error for a person; one that no verb foresaw names its kind, and how to see more."""
    from gateway.errors import GatewayError
    from gateway.policy.problems import PolicyInvalid
    from governance.errors import GovernanceError
    from governance.names import shown
    from router_models.errors import RouterFault

    if isinstance(error, PolicyInvalid):
        return "\n".join(("the policy is not valid", *map(shown, str(error).splitlines())))
    text = shown(" ".join(str(error).split()))
    if isinstance(error, GatewayError | GovernanceError | RouterFault):
        return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(_ENDS) else '.'}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}." if error.filename else f"{error.strerror}."
    return f"{type(error).__name__}: {text} (`sluice --debug …` shows where)"
