"""`sluice context preview`: what a policy would cut of one request."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.context.group import comparing, context
from gateway.cli.terminal import as_json, now, settings, show_json

if TYPE_CHECKING:
    from governance.context.auditing import Audit
    from governance.context.cutting.trimming import Trimmed
    from governance.context.rule import ContextRule

_file = click.Path(path_type=Path, dir_okay=False, exists=True)
_tokens = click.IntRange(1)


@context.command(
    epilog="\b\nExamples:\n  sluice context preview request.json --target 4000\n"
    "  sluice context preview request.json --policy next.yaml --feature search/web/faq --text"
)
@click.argument("file", type=_file)
@click.option("--policy", type=_file, help="The policy; SLUICE_POLICY otherwise, or the starter policy.")
@click.option("--feature", default="", help="Whose rules, as team/app or team/app/feature; everyone's otherwise.")
@click.option("--target", type=_tokens, help="Cut to so many tokens, whatever the policy says.")
@click.option("--keep-last-turns", type=_tokens, help="Keep so many turns, whatever the policy says.")
@click.option("--words-only", is_flag=True, help="Rank by words alone, as without the `semantic` extra.")
@click.option("--text", is_flag=True, help="Show the text that would be cut as well.")
@as_json
def preview(
    file: Path,
    policy: Path | None,
    feature: str,
    target: int | None,
    keep_last_turns: int | None,
    words_only: bool,
    text: bool,
    as_json: bool,
) -> None:
    """Show what would be cut of the body of a chat, in FILE as JSON; nothing is sent anywhere.

    Tokens are estimates before any model has taught them. A provider's own cache is not known here: the gateway leaves
    a prompt as it is where that is cheaper.
    """
    from dataclasses import replace

    import msgspec

    from gateway.cli.context.estimating import tokens_of

    try:
        body = msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise click.UsageError(f"{file} is no JSON object: {error}.") from error
    rule = _rule(policy, feature)
    wanted = replace(
        rule,
        mode="trim",
        target_tokens=target or rule.target_tokens,
        keep_last_turns=keep_last_turns or rule.keep_last_turns,
    )
    found, trimmed = asyncio.run(_cut(body, wanted, words_only=words_only))
    before, after = tokens_of(body), tokens_of(trimmed.body)
    if as_json:
        show_json(_facts(found, trimmed, before, after, body=text))
    else:
        _show(rule, found, trimmed, before, after)
        if text:
            click.echo("\n".join(_difference(body, trimmed.body)))


def _rule(policy: Path | None, feature: str) -> ContextRule:
    import os

    from gateway.policy.source import load_policy
    from governance.context.rule import NOTHING_ASKED
    from governance.errors import UnknownTeam
    from governance.policy.contexts import within

    loaded = load_policy(policy or settings().policy_file, os.environ, now())
    if not feature:
        return within(NOTHING_ASKED, loaded.document.context)
    team, app, name = [*feature.split("/"), "", ""][:3]
    try:
        return loaded.rules.written(team, app, name, "").context
    except UnknownTeam as error:
        raise click.UsageError(f"{error}.") from error


async def _cut(body: dict[str, Any], rule: ContextRule, *, words_only: bool) -> tuple[Audit, Trimmed]:
    from gateway.cli.context.estimating import CALIBRATION, tokens_in, tokens_of
    from gateway.counting.makeup import of_text
    from governance.context.auditing import audit
    from governance.context.cutting.trimming import Draft

    before = tokens_of(body)
    found = audit(body, lambda texts: CALIBRATION.estimate(of_text(texts)))
    if rule.target is not None and before <= rule.target:
        rule = type(rule)(mode="trim", keep_last_turns=rule.keep_last_turns)
    draft = Draft(body, rule, before, tokens_in)
    async with comparing(words_only=words_only or not draft.chunks) as compare:
        trimmed = draft.finish(await compare(draft.questions, draft.chunks))
    return found, trimmed


def _facts(found: Audit, trimmed: Trimmed, before: int, after: int, *, body: bool) -> dict[str, Any]:
    from dataclasses import asdict

    from governance.context.reading import ROLES

    measures = asdict(found) | {"by_role": dict(zip(ROLES, found.by_role, strict=True))}
    facts = {"audit": measures, "tokens": before, "left": after, "cuts": [asdict(cut) for cut in trimmed.cuts]}
    return facts | {"body": trimmed.body} if body else facts


def _show(rule: ContextRule, found: Audit, trimmed: Trimmed, before: int, after: int) -> None:
    from governance.context.reading import ROLES

    roles = ", ".join(f"{role} {count:,}" for role, count in zip(ROLES, found.by_role, strict=True) if count)
    click.echo(f"About {before:,} tokens in {found.turns} turns: {roles}.")
    click.echo(f"Said twice: {found.same:,}, nearly so: {found.near:,}; tools never called: {found.unused:,}.")
    for cut in trimmed.cuts:
        place = f"messages.{cut.message}" if cut.part is None else f"messages.{cut.message}.content.{cut.part}"
        click.echo(f"  {place}: {_WHY[cut.how]}{f', about {cut.tokens:,} tokens' if cut.tokens else ''}")
    does = {"trim": "cuts", "warn": "only tells of it", "refuse": "refuses what is too long", "off": "does nothing"}
    click.echo(f"About {after:,} tokens would be left. The policy {does[rule.mode]}.")


def _difference(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    from difflib import unified_diff

    from governance.context.reading import passages_of
    from governance.names import shown

    old, new = ([line for one in passages_of(body) for line in one.text.splitlines()] for body in (before, after))
    return [shown(line) for line in unified_diff(old, new, "as it came", "as it would be sent", n=0, lineterm="")]


_WHY = {
    "space": "what only fills",
    "same": "said before",
    "near": "said before, nearly so",
    "unrelated": "has least to do with the question",
    "turn": "left out whole",
}
