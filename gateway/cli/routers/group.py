"""The group `sluice router`, to which each verb adds itself, and the options that they share."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

from pathlib import Path

import click

_file = click.Path(path_type=Path, dir_okay=False)
_there = click.Path(path_type=Path, dir_okay=False, exists=True)

data = click.option(
    "--data", "files", type=_there, multiple=True, required=True, help="Labelled prompts: JSON Lines, plain or gzip."
)
weak = click.option("--weak", help="The weak model, as the data call it.")
strong = click.option("--strong", help="The strong model, as the data call it.")
artifact = click.option(
    "--router", "path", type=_there, help="The router.  [default: the one trained in the home, else the bundled one]"
)
out = click.option("--out", type=_file, help="Where to write.  [default: router.safetensors in the home]")


@click.group()
def router() -> None:
    """Learn from labelled prompts which of them need the strong model, and measure how well that is known.

    A line of the data is {"id", "source", "prompt", "outcomes": {"<model>": score from 0 to 1}}; the prompt is a text
    or a list of messages, of which the last of the user counts.
    """


def trained() -> Path:
    """Return where a router is that was trained here."""
    from gateway.cli.terminal import settings

    return settings().home / "router.safetensors"


def chosen(path: Path | None) -> Path | None:
    """Return which router is meant: the one named, the one trained here, or None for the bundled one."""
    if path is not None:
        return path
    here = trained()
    return here if here.exists() else None
