"""What a key is to be narrowed to, read from what people write, against the policy in force."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from pydantic_core import PydanticCustomError

from gateway.errors import BadRequest
from governance.errors import NotMoney
from governance.identity import KeyTerms
from governance.limits import Budget
from governance.money import Nanodollars
from governance.names import shown
from governance.policy.fields import parse_span
from governance.windows import SESSION, Span, WindowKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gateway.policy.source import LoadedPolicy

_BUDGET = re.compile(r"([0-9]+(?:\.[0-9]+)?)/([0-9a-z]+)")


def require_app(policy: LoadedPolicy, team: str, app: str) -> None:
    """Refuse an app that the policy does not have, naming those it has.

    Raises:
        BadRequest: It has none of that name.
    """
    if policy.rules.app(team, app) is None:
        known = (f"{rule.team}/{rule.app}" for rule in policy.rules.apps())
        raise BadRequest(f"the policy has no {shown(team)}/{shown(app)}; it has: {_listed(known)}", "app")


def require_team(policy: LoadedPolicy, team: str) -> None:
    """Refuse a team that the policy does not have, naming those it has.

    Raises:
        BadRequest: It has none of that name.
    """
    known = [section.name for section in policy.document.teams]
    if team not in known:
        raise BadRequest(f"the policy has no team {shown(team)!r}; it has: {_listed(known)}", "team")


def read_terms(policy: LoadedPolicy, tiers: Sequence[str], models: Sequence[str], budgets: Sequence[str]) -> KeyTerms:
    """Read what a key is narrowed to; an empty list narrows nothing.

    Args:
        policy: Where tiers and models are named.
        tiers: Names of tiers.
        models: Names of models.
        budgets: Amounts in USD for a window, such as `5/day` or `1/24h`.

    Raises:
        BadRequest: A tier or model does not exist, or a budget is none; `param` says which of the three.
    """
    _known("tier", tiers, policy.document.tiers)
    _known("model", models, [model.name for model in policy.document.models])
    return KeyTerms(tuple(tiers) or None, tuple(models) or None, tuple(map(read_budget, budgets)))


def read_budget(text: str) -> Budget:
    """Read `5/day`, `2.50/month` or `1/24h` as a budget; its scope is the key's once there is one.

    Raises:
        BadRequest: It is no amount above 0 with up to 9 decimals, or no window of a key.
    """
    match = _BUDGET.fullmatch(text)
    span = _span(match[2]) if match else None
    if match is None or span is None:
        windows = _listed(kind.value for kind in WindowKind)
        raise BadRequest(
            f"{shown(text)!r} is no budget; write an amount and a window, such as 5/day ({windows}), or the last so "
            "long, such as 5/24h or 5/7d",
            "budget",
        )
    try:
        limit = Nanodollars.parse(Decimal(match[1]))
    except NotMoney as error:
        raise BadRequest(f"{shown(text)!r} is no budget: {error.why}", "budget") from error
    if limit.nanos <= 0:
        raise BadRequest(f"{shown(text)!r} is no budget: the amount should be more than 0", "budget")
    return Budget("key", limit, span)


def _span(text: str) -> Span | None:
    """Read a window; None when it is none, or one that a key cannot have: a session's is for each of them."""
    try:
        span = parse_span(text)
    except PydanticCustomError:
        return None
    return None if span == SESSION else span


def _known(kind: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise BadRequest(f"the policy has no {kind} {shown(name)!r}; it has: {_listed(known)}", kind)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
