"""Budgets and limits that never bind, because one around them, or beside them, always binds first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from governance.policy.sections import BudgetSection, LimitsSection, Member, StepAction, scope_of
from governance.windows import Span, WindowKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gateway.policy.document import Policy
    from gateway.policy.positions import Path
    from gateway.policy.problems import Problem, Reporter

LIMITS: Final = ("requests_per_minute", "tokens_per_minute", "concurrent")
_LONGER: Final = {
    WindowKind.MINUTE: (WindowKind.HOUR, WindowKind.DAY, WindowKind.WEEK, WindowKind.MONTH, WindowKind.QUARTER),
    WindowKind.HOUR: (WindowKind.DAY, WindowKind.WEEK, WindowKind.MONTH, WindowKind.QUARTER),
    WindowKind.DAY: (WindowKind.WEEK, WindowKind.MONTH, WindowKind.QUARTER),
    WindowKind.WEEK: (),
    WindowKind.MONTH: (WindowKind.QUARTER,),
    WindowKind.QUARTER: (),
}
"""The windows that wholly hold each one: a week may lie in two months."""


@dataclass(frozen=True, slots=True)
class _Written:
    """A budget, and where it is written."""

    scope: str
    path: Path
    budget: BudgetSection

    @property
    def blocks(self) -> bool:
        """Whether nothing is spent beyond it."""
        return not self.budget.steps or self.budget.steps.get(100) is StepAction.BLOCK


def shadowed(report: Reporter, document: Policy) -> Iterator[Problem]:
    """Find every budget and limit that can never be the one that refuses."""
    yield from _budgets(report, list(_written(document)))
    for path, member, around in _members(document):
        yield from _limits(report, path, member, around)


def _budgets(report: Reporter, budgets: list[_Written]) -> Iterator[Problem]:
    for number, one in enumerate(budgets):
        twin = next((other for other in budgets[:number] if _same_counter(one, other)), None)
        if twin is not None:
            line = report.parsed.place_of((*twin.path, "limit")).line
            told = f"{one.scope} has a budget per {one.budget.per} already, on line {line}: the lower one counts"
            yield report.at((*one.path, "limit"), told, "keep one of them")
            continue
        over = next((other for other in budgets if _binds_first(other, one)), None)
        if over is not None:
            told = f"is never reached: {over.scope} may spend {over.budget.limit} per {over.budget.per}"
            yield report.at((*one.path, "limit"), told, f"write less than {over.budget.limit}, or leave it out")
        each = one.budget.per_request
        if each is not None and each > one.budget.limit and one.blocks:
            told = f"is never reached: all requests together may spend {one.budget.limit}"
            yield report.at((*one.path, "per_request"), told, f"write at most {one.budget.limit}, or leave it out")


def _same_counter(one: _Written, other: _Written) -> bool:
    return (one.scope, one.budget.per) == (other.scope, other.budget.per)


def _binds_first(outer: _Written, inner: _Written) -> bool:
    """Say whether one budget is spent before another can be, whatever happens."""
    around = outer.scope in _around(inner.scope)
    longer = outer.budget.window == inner.budget.window or _outlasts(outer.budget.window, inner.budget.window)
    shared = outer.budget.dimension in (None, inner.budget.dimension)
    return around and longer and shared and outer.blocks and outer.budget.limit < inner.budget.limit


def _outlasts(one: Span, other: Span) -> bool:
    return isinstance(one, WindowKind) and isinstance(other, WindowKind) and one in _LONGER[other]


def _around(scope: str) -> tuple[str, ...]:
    """Name a scope and those around it; whose key a key is, the document does not know."""
    names = scope.partition(":")[2].split("/")
    kinds = {"team": 1, "app": 2, "feature": 3}
    outer = [f"{kind}:{'/'.join(names[:depth])}" for kind, depth in kinds.items() if depth <= len(names)]
    return ("org", scope) if scope.startswith(("key:", "org")) else ("org", *outer)


def _written(document: Policy) -> Iterator[_Written]:
    for index, budget in enumerate(document.budgets):
        yield _Written(budget.scope, ("budgets", index), budget)
    for scope, path, member in _scoped(document):
        for index, budget in enumerate(member.budgets):
            yield _Written(scope, (*path, "budgets", index), budget)


def _scoped(document: Policy) -> Iterator[tuple[str, Path, Member]]:
    for t, team in enumerate(document.teams):
        yield scope_of(team), ("teams", t), team
        for a, app in enumerate(team.apps):
            yield scope_of(team, app), ("teams", t, "apps", a), app
            for f, feature in enumerate(app.features):
                yield scope_of(team, app, feature), ("teams", t, "apps", a, "features", f), feature


def _members(document: Policy) -> Iterator[tuple[Path, LimitsSection, tuple[tuple[str, LimitsSection], ...]]]:
    """Yield the limits of every member, where they are written, and those around it."""
    limits: dict[str, LimitsSection] = {} if document.limits is None else {"org": document.limits}
    for scope, path, member in _scoped(document):
        if member.limits is not None:
            outer = tuple((name, limits[name]) for name in _around(scope) if name in limits)
            yield (*path, "limits"), member.limits, outer
            limits[scope] = member.limits


def _limits(
    report: Reporter, path: Path, limits: LimitsSection, around: Iterable[tuple[str, LimitsSection]]
) -> Iterator[Problem]:
    for name in LIMITS:
        own = getattr(limits, name)
        others = [(most, scope) for scope, outer in around if (most := getattr(outer, name)) is not None]
        most, scope = min(others, default=(own, ""))
        if own is not None and most < own:
            told = f"is never reached: {scope} is limited to {most}"
            yield report.at((*path, name), told, f"write less than {most}, or leave it out")
