"""The group `sluice context`, to which each verb adds itself, and how its verbs compare texts by meaning."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import click

from gateway.cli.terminal import say

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from governance.context.evaluating.measuring import Compare


@click.group()
def context() -> None:
    """See what prompts are made of, and what would be cut of them."""


@asynccontextmanager
async def comparing(*, words_only: bool) -> AsyncGenerator[Compare]:
    """Open the bundled embedding and compare by it; by words alone where that is wanted, or it is not installed."""
    from cache.errors import CacheError

    if not words_only:
        try:
            from gateway.context.meanings import Nearness
            from gateway.steps.guarding.meanings import Bundled

            places = Bundled(patience_s=float("inf"))
            await places.place(["nothing"])
        except (CacheError, ImportError) as error:
            say(f"By words alone: {error}")
        else:
            try:
                yield Nearness(places, patience_s=float("inf")).cosines
            finally:
                await places.close()
            return
    yield _by_words


async def _by_words(questions: Sequence[str], texts: Sequence[str]) -> None:
    """Compare nothing."""
