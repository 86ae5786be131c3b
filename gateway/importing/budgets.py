"""What LiteLLM limits in its config: money over everyone, over each user, and over each team; and requests at once."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from gateway.importing.draft import BudgetDraft, TeamDraft
from governance.errors import NotMoney
from governance.money import NANOS_PER_DOLLAR, Nanodollars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway.importing.source import Source
    from gateway.policy.positions import Path

DEFAULT_TEAM: Final = "default"

_WINDOWS: Final = {"1h": "hour", "24h": "day", "1d": "day", "7d": "week", "1w": "week", "30d": "month", "1mo": "month"}
"""The periods that LiteLLM ends with the calendar."""

_ROLLING: Final = re.compile(r"[1-9][0-9]{0,4}[mhd]")
_LONGEST: Final = "366d"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_EACH_USER: Final = (
    (("litellm_settings", "max_internal_user_budget"), "internal_user_budget_duration"),
    (("litellm_settings", "default_internal_user_params", "max_budget"), "budget_duration"),
    (("litellm_settings", "max_end_user_budget"), "max_end_user_budget_duration"),
)
_LIMITS: Final = {
    "rpm_limit": "requests_per_minute",
    "tpm_limit": "tokens_per_minute",
    "max_parallel_requests": "concurrent",
}


def org_budgets(source: Source) -> Iterator[BudgetDraft]:
    """Read what everyone together, and each user, may spend."""
    for section in ("litellm_settings", "general_settings"):
        total = _budget(source, (section, "max_budget"), "budget_duration")
        if total is not None:
            yield total
    for path, duration in _EACH_USER:
        budget = _budget(source, path, duration)
        if budget is not None:
            source.change(path, "Holds for each value of a request's `user`, which is who LiteLLM's own users are not.")
            yield budget._replace(each="user")


def concurrent(source: Source) -> int | None:
    """Read how many requests may run at once, over everyone."""
    return _count(source, ("general_settings", "global_max_parallel_requests"))


def teams(source: Source) -> tuple[TeamDraft, ...]:
    """Read the teams that the config names; there is always one, for keys belong to a team and an app."""
    everyone = ("litellm_settings", "default_team_params")
    budgets, limits = _member(source, everyone)
    found: dict[str, TeamDraft] = {}
    listed = ("litellm_settings", "default_team_settings")
    for index in source.items(*listed):
        path = (*listed, index)
        name = source.text(*path, "team_id")
        if name is None or not _NAME.fullmatch(name) or name in found:
            source.leave_out(path, "Needs a team_id of its own, of letters, digits, points, dashes and underscores.")
            continue
        own, bounds = _member(source, path)
        found[name] = TeamDraft(name, own or budgets, {**limits, **bounds})
    return tuple(found.values()) or (TeamDraft(DEFAULT_TEAM, budgets, limits),)


def _member(source: Source, path: Path) -> tuple[tuple[BudgetDraft, ...], dict[str, int]]:
    budget = _budget(source, (*path, "max_budget"), "budget_duration")
    counts = {ours: _count(source, (*path, name)) for name, ours in _LIMITS.items()}
    return (() if budget is None else (budget,)), {name: count for name, count in counts.items() if count is not None}


def _count(source: Source, path: Path) -> int | None:
    number = source.number(*path)
    if number is None:
        return None
    if number < 1 or number != number.to_integral_value():
        return source.leave_out(path, "Should be a whole number above 0.")
    return int(number)


def _budget(source: Source, path: Path, duration: str) -> BudgetDraft | None:
    limit = source.number(*path)
    period = source.text(*path[:-1], duration)
    if limit is None:
        return None
    try:
        amount = Nanodollars.parse(limit)
    except NotMoney:
        return source.leave_out(path, "Is no amount in USD.")
    if amount.nanos <= 0:
        return source.leave_out(
            path, "A budget of nothing would refuse everybody: leave the models out of the teams' tiers."
        )
    return BudgetDraft(Decimal(amount.nanos) / NANOS_PER_DOLLAR, _window(source, path, duration, period))


def _window(source: Source, path: Path, duration: str, period: str | None) -> str:
    where = (*path[:-1], duration)
    if period is None:
        source.change(path, f"Never started anew; here it runs over the last {_LONGEST}.")
        return _LONGEST
    if window := _WINDOWS.get(period):
        return window
    days = int(period[:-1]) if period.endswith("d") and period[:-1].isdecimal() else 0
    if _ROLLING.fullmatch(period) and days <= int(_LONGEST[:-1]):
        source.change(where, f"Runs over the last {period}, at every moment, and never starts anew at once.")
        return period
    source.change(where, "Is no period of a budget here: a month was taken.")
    return "month"
