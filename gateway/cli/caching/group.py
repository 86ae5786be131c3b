"""The group `sluice cache`, to which each verb adds itself."""

from __future__ import annotations

import click


@click.group()
def cache() -> None:
    """Look into the caches of answers, and measure how far they may be trusted."""
