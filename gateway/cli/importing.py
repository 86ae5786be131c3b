"""`sluice import`: from another gateway's config to a policy, and the list of what did not carry over."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

from pathlib import Path

import click

from gateway.cli.terminal import as_json, now, say, show_json

_path = click.Path(path_type=Path, dir_okay=False)


@click.group("import")
def importing() -> None:
    """Come from another gateway."""


@importing.command(
    epilog="\b\nExamples:\n"
    "  sluice import litellm config.yaml --output policy.yaml\n"
    "  sluice import litellm config.yaml > policy.yaml\n"
    "  sluice import litellm config.yaml --json"
)
@click.argument("file", type=_path)
@click.option("-o", "--output", type=_path, help="Write the policy here; a file that exists is left alone.")
@as_json
def litellm(file: Path, output: Path | None, as_json: bool) -> None:
    """Make a policy of FILE, the config of a LiteLLM proxy, and say what did not carry over.

    The policy goes to standard output and the list to standard error; with --output, the list to standard output. No
    key is copied: the policy names the variables that the keys are to be in.
    """
    from gateway.importing.litellm import import_file
    from governance.names import shown

    imported = import_file(file, now())
    if output is not None:
        with output.open("x", encoding="utf-8") as written:
            written.write(imported.policy)
    if as_json:
        show_json(imported.facts())
        return
    if output is None:
        click.echo(imported.policy, nl=False)
    for line in imported.lines():
        click.echo(shown(line), err=output is None)
    if output is not None:
        say(f"Wrote {output}; check it with sluice policy check {output}.")
