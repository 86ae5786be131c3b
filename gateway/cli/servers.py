"""`sluice up`, `sluice serve` and `sluice engine serve`: the verbs that stay."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import json
import os
import sys

import click

from gateway.cli.terminal import as_json, now, say, settings


@click.command(epilog="\b\nExamples:\n  sluice up\n  PORT=8080 sluice up")
@as_json
def up(as_json: bool) -> None:
    """Start the gateway, and the bundled engine when the policy uses it.

    Prints where everything is once it answers; Ctrl-C stops all of it.
    """
    from gateway.supervision.plan import Voice, run_up

    voice = Voice(
        greet=lambda greeting: json.dumps(greeting.facts()) if as_json else greeting.text(),
        announce=click.echo,
        say=say,
    )
    raise click.exceptions.Exit(run_up(settings(), os.environ, voice, now()))


@click.command(epilog="\b\nExample:\n  SLUICE_ENGINE_URL=http://127.0.0.1:8001 sluice serve")
@as_json
def serve(as_json: bool) -> None:
    """Serve the gateway alone; engines are elsewhere. Logs are JSON lines on standard error."""
    from gateway.server import run
    from gateway.supervision.sockets import claim_port

    chosen = settings()
    chosen = chosen.model_copy(update={"port": claim_port(chosen.host, chosen.port)})
    if as_json:
        click.echo(json.dumps({"host": chosen.host, "port": chosen.port, "pid": os.getpid()}))
    run(chosen)


@click.group()
def engine() -> None:
    """Run the bundled engine by itself."""


@engine.command(
    name="serve",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    epilog="\b\nExample:\n  sluice engine serve --uds var/engine.sock",
)
@click.pass_context
def engine_serve(ctx: click.Context) -> None:
    """Serve the engine over the OpenAI API; `--help` lists its own options."""
    from importlib.util import find_spec

    from gateway.supervision.plan import NO_ENGINE

    if find_spec("torch") is None:
        raise click.ClickException(NO_ENGINE)
    from local_engine.process import main

    sys.exit(main(ctx.args))
