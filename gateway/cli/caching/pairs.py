"""What `sluice cache evaluate --pairs` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathlib import Path


def show_pairs(file: Path, max_error: float, *, as_json: bool) -> None:
    """Put the pairs of a file through the decision, and show how it did."""
    del file, max_error, as_json
    raise click.ClickException("Not built yet.")
