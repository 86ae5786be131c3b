"""`sluice context evaluate`: how much is cut, and how often what answers the question is cut with it."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.context.group import comparing, context
from gateway.cli.terminal import as_json, show_json, show_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance.context.evaluating.conversations import Case
    from governance.context.evaluating.measuring import Outcome

_file = click.Path(path_type=Path, dir_okay=False, exists=True)
_CUTS = (0.35, 0.5, 0.7)


@context.command(
    epilog="\b\nExamples:\n  sluice context evaluate\n  sluice context evaluate --words-only --cut 0.35\n"
    "  sluice context evaluate --public fow.jsonl.gz --public gsm8k.jsonl.gz --json"
)
@click.option("--cases", type=click.IntRange(6), default=240, show_default=True, help="Prompts, of all kinds together.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the draw.")
@click.option(
    "--cut", type=click.FloatRange(0.05, 0.95), multiple=True, default=_CUTS, show_default=True,
    help="The share of the tokens to be cut.",
)  # fmt: skip
@click.option("--public", type=_file, multiple=True, help="Public texts instead: JSON Lines, plain or gzip.")
@click.option("--words-only", is_flag=True, help="Rank by words alone, as without the `semantic` extra.")
@as_json
def evaluate(
    cases: int, seed: int, cut: tuple[float, ...], public: tuple[Path, ...], words_only: bool, as_json: bool
) -> None:
    """Cut long prompts whose answer is known, and count how often all of it is kept, with 95 % intervals.

    The prompts are made up: documents, search results, logs, tool outputs read again and long chats, in which one
    sentence answers a question that is worded otherwise. With --public they are made of rows {"prompt"} (a problem: its
    last sentence is asked, the others are needed) and {"a", "b", "same"} (pairs of questions, or of conversations).
    """
    drawn = _drawn(cases, seed, public)
    found = asyncio.run(_measured(drawn, cut, words_only=words_only))
    if as_json:
        show_json([_facts(share, kind, listed) for share, by_kind in found.items() for kind, listed in by_kind.items()])
    else:
        _table(found)


def _drawn(count: int, seed: int, public: Sequence[Path]) -> list[Case]:
    import msgspec

    from cache.evaluating.jsonl import numbered
    from governance.context.evaluating.conversations import cases
    from governance.context.evaluating.public import public_cases

    if not public:
        return cases(seed, count)
    rows = [msgspec.json.decode(line, type=dict[str, Any]) for path in public for _, line in numbered(path)]
    drawn = public_cases(rows, seed, count // 3)
    if not drawn:
        raise click.UsageError("These files have too few rows of the kinds that prompts can be made of.")
    return drawn


async def _measured(
    drawn: Sequence[Case], cuts: Sequence[float], *, words_only: bool
) -> dict[float, dict[str, list[Outcome]]]:
    from gateway.cli.context.estimating import tokens_in, tokens_of
    from governance.context.evaluating.measuring import outcome

    found: dict[float, dict[str, list[Outcome]]] = {cut: {"all": []} for cut in cuts}
    async with comparing(words_only=words_only) as compare:
        for case in drawn:
            for cut in cuts:
                one = await outcome(case, cut, tokens_of, tokens_in, compare)
                found[cut].setdefault(one.kind, []).append(one)
                found[cut]["all"].append(one)
    return found


def _facts(share: float, kind: str, listed: Sequence[Outcome]) -> dict[str, Any]:
    from dataclasses import asdict

    from cache.intervals import share as counted

    return {
        "wanted": share,
        "kind": kind,
        "cases": len(listed),
        "tokens": sum(one.before for one in listed) / len(listed),
        "cut": sum(one.share for one in listed) / len(listed),
        "kept": asdict(counted(sum(one.kept for one in listed), len(listed))),
    }


def _table(found: dict[float, dict[str, list[Outcome]]]) -> None:
    from rich.table import Table

    note = "Kept: prompts in which all that answers the question is left, with 95 % intervals"
    table = Table(box=None, header_style="bold", pad_edge=False, caption=note, caption_justify="left")
    table.add_column("Prompts", no_wrap=True)
    for title in ("Cases", "Tokens each", "Cut", "Kept", "95 %"):
        table.add_column(title, justify="right", no_wrap=True)
    for share, by_kind in found.items():
        for kind, listed in by_kind.items():
            facts = _facts(share, kind, listed)
            kept = facts["kept"]
            table.add_row(
                kind,
                f"{facts['cases']:,}",
                f"{facts['tokens']:,.0f}",
                f"{facts['cut']:.1%}",
                f"{kept['value']:.1%}",
                f"{kept['low']:.1%} to {kept['high']:.1%}",
            )
        table.add_section()
    show_table(table)
