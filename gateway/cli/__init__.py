"""The `sluice` command: one file for each group of verbs, thin over the packages that do the work.

`terminal.py` holds what all verbs share: settings, durations, and how an answer or an error is shown. Verbs work beside
a running gateway and without one, because they speak to the database and not to the gateway. What a verb needs is
imported when it runs, so that `--help` answers at once.
"""

import click

from gateway import __version__
from gateway.cli.batch import batch
from gateway.cli.bench import bench
from gateway.cli.caching import cache
from gateway.cli.context import context
from gateway.cli.doctor import doctor
from gateway.cli.guard import guard
from gateway.cli.importing import importing
from gateway.cli.keys import keys
from gateway.cli.policies.history import policy
from gateway.cli.prices import prices
from gateway.cli.prove import prove
from gateway.cli.routers import router
from gateway.cli.servers import engine, serve, up
from gateway.cli.spending.spend import spend
from gateway.cli.terminal import Sluice

EXAMPLES = """\b
Examples:
  sluice up
  sluice keys create --team demo --app demo
  sluice spend --by model --since 7d
  sluice policy check policy.yaml

Exit status: 0 ok, 1 the check failed, 2 wrong usage."""


@click.group(cls=Sluice, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sluice")
@click.option("--debug", is_flag=True, help="Show where an error comes from.")
def sluice(debug: bool) -> None:
    """Run and inspect Sluice, the LLM gateway that governs cost."""
    del debug  # read by the group itself


_TRAFFIC = (up, serve, engine, keys, spend, prices, policy, batch)
_DECISIONS = (cache, router, guard, context, prove, bench, doctor, importing)
for verb in (*_TRAFFIC, *_DECISIONS):
    sluice.add_command(verb)


def main() -> None:
    """Run the command line of this process."""
    sluice.main(prog_name="sluice")
