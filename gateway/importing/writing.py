"""A draft as the YAML of a policy, with comments for who reads it."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import yaml

from gateway.importing.tiers import RULE, TIERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gateway.importing.draft import BudgetDraft, Draft, ModelDraft, TeamDraft

_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9._/@+-]*|\d[\d.-]*[A-Za-z][A-Za-z0-9._/@+-]*")
_WHOLE_LINE: Final = re.compile(r"https?://[A-Za-z0-9.:/_-]*[A-Za-z0-9/_-]|\$\{\w+\}[A-Za-z0-9./_-]*")
"""What else may stand without quotes where the line ends after it."""

_WORDS: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off"})
_COLUMN: Final = 39

_HEAD: Final = """\
# A policy made by `sluice import litellm` from the config of a LiteLLM proxy.
# Read what the import says did not carry over, then change this file as you like: `sluice policy check` tells what is
# wrong with it, line by line, and nothing here depends on the config any more.

version: 1
currency: USD
timezone: UTC
"""


def write(draft: Draft, tiers: Mapping[str, str], unpriced: Iterable[str]) -> str:
    """Return the policy as YAML.

    Args:
        draft: What is to be written.
        tiers: The tier of each model by its name.
        unpriced: The models that have no price yet.
    """
    without = frozenset(unpriced)
    parts = [
        _HEAD,
        "\n".join(_providers(draft)),
        _tiers(),
        "\n".join(
            ["models:" if draft.models else "models: []", *(_model(model, tiers, without) for model in draft.models)]
        ),
        "\n".join(_routes(draft)),
        "\n".join(_reliability(draft)),
        "\n".join(_watching(draft)),
        "\n".join(_limiting(draft)),
        "\n".join(["teams:", *(line for team in draft.teams for line in _team(team))]),
    ]
    return "\n".join(f"{part.rstrip()}\n" for part in parts if part)


def _providers(draft: Draft) -> Iterator[str]:
    yield "providers:" if draft.providers else "providers: {}"
    for name, provider in draft.providers.items():
        yield f"  {_text(name)}:"
        yield f"    kind: {provider.kind}"
        yield from (f"    {field}: {_to_the_end(value)}" for field, value in provider.fields)
        yield _noted(f"    zone: {provider.zone}", "guessed from the address")


def _tiers() -> str:
    words = [""]
    for word in f"Invented, {RULE}.".split():
        if len(words[-1]) + len(word) > 110:  # noqa: PLR2004  a line of a comment
            words.append("")
        words[-1] = f"{words[-1]} {word}"
    return "\n".join([*(f"#{line}" for line in words), f"tiers: [{', '.join(TIERS)}]"])


def _model(model: ModelDraft, tiers: Mapping[str, str], unpriced: frozenset[str]) -> str:
    price = "list" if model.rates is None else _mapping(model.rates)
    facts = {"name": model.name, "provider": model.provider, "model": model.model, "tier": tiers[model.name]}
    kind = {} if model.kind == "chat" else {"kind": model.kind}
    line = f"  - {{{', '.join(f'{key}: {_text(value)}' for key, value in {**facts, **kind}.items())}, price: {price}}}"
    return _noted(line, "no price is known: write one") if model.name in unpriced else line


def _routes(draft: Draft) -> Iterator[str]:
    if draft.routes:
        yield "# The first model answers; the others follow when it may not or cannot."
        yield "routes:"
    for name, models in draft.routes:
        first, *others = models
        yield f"  - name: {_text(name)}"
        yield f"    weak: {_text(first)}"
        yield f"    strong: {_text(first)}"
        if others:
            yield f"    fallbacks: [{', '.join(map(_text, others))}]"


def _reliability(draft: Draft) -> Iterator[str]:
    retries, failures, pause_s, total_s = draft.reliability
    breaker = {"failures": failures, "pause": None if pause_s is None else f"{pause_s}s"}
    said = {
        "retries": None if retries is None else str(retries),
        "breaker": _mapping({name: value for name, value in breaker.items() if value is not None}),
        "timeouts": None if total_s is None else f"{{total: {total_s}s}}",
    }
    lines = [f"  {name}: {value}" for name, value in said.items() if value not in (None, "{}")]
    yield from ["reliability:", *lines] if lines else []


def _watching(draft: Draft) -> Iterator[str]:
    if draft.cache_ttl is not None:
        yield "cache:"
        yield _noted(f"  exact: {{ttl: {draft.cache_ttl}, shared_by: app}}", "key | app | team | org")
    if draft.guardrails:
        yield "guardrails:"
    for name, on, detect, action in draft.guardrails:
        yield f'  - {{name: {_text(name)}, "on": {on}, detect: [{", ".join(detect)}], action: {action}}}'
    if draft.webhook is not None:
        yield f"alerts:\n  webhook: {_to_the_end(draft.webhook)}"


def _limiting(draft: Draft) -> Iterator[str]:
    if draft.concurrent is not None:
        yield f"limits:\n  concurrent: {draft.concurrent}"
    if draft.budgets:
        yield "budgets:"
    for budget in draft.budgets:
        yield f"  - {_budget(budget, scope='org')}"


def _team(team: TeamDraft) -> Iterator[str]:
    yield f"  - name: {_text(team.name)}"
    yield f"    tiers: [{', '.join(TIERS)}]"
    if team.budgets:
        yield f"    budgets: [{', '.join(map(_budget, team.budgets))}]"
    if team.limits:
        yield f"    limits: {_mapping(team.limits)}"
    yield "    apps:"
    yield _noted("      - name: default", f"sluice keys create --team {team.name} --app default")


def _budget(budget: BudgetDraft, scope: str = "") -> str:
    facts: dict[str, str | Decimal] = {"limit": budget.limit, "window": budget.window}
    return _mapping({**({"scope": scope} if scope else {}), **facts, **({"each": budget.each} if budget.each else {})})


def _mapping(facts: Mapping[str, str | int | Decimal]) -> str:
    written = {
        name: _text(value) if isinstance(value, str) else format(Decimal(value), "f") for name, value in facts.items()
    }
    return f"{{{', '.join(f'{name}: {value}' for name, value in written.items())}}}"


def _text(value: str) -> str:
    """Write a text, in quotes unless it cannot be taken for anything else."""
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return yaml.safe_dump(value, default_style='"', width=10_000, allow_unicode=True).strip()


def _to_the_end(value: str) -> str:
    return value if _WHOLE_LINE.fullmatch(value) else _text(value)


def _noted(line: str, comment: str) -> str:
    return f"{line:<{_COLUMN}}# {comment}" if len(line) < _COLUMN else f"{line}  # {comment}"
