"""What differs between two policies, in people's words: sorted, and the same whenever it is asked.

Members that came or went, the models an app reaches, and budgets have sentences of their own. All else is told part by
part as it is written, so a section that nobody thought of here is still shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gateway.policy.change.access import reach
from gateway.policy.change.parts import parts, worded
from gateway.policy.pricing.sections import Terms
from governance.policy.sections import members

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gateway.policy.change.parts import Path
    from gateway.policy.document import Policy
    from gateway.policy.source import LoadedPolicy
    from governance.policy.sections import BudgetSection

Kind = Literal["added", "gone", "changed"]
MARKS: dict[Kind, str] = {"added": "+", "gone": "-", "changed": "~"}

_PRICES = {"price", *Terms.model_fields}
_ITEMS = {"providers": "provider", "models": "model", "routes": "route", "guardrails": "guardrail"}
_ORDER = ("team", "app", "feature", "access", "budget", "limits", "tiers", "model", "price", "route", "provider")


@dataclass(frozen=True, slots=True)
class Change:
    """One difference.

    Attributes:
        section: What kind of thing it is about, such as `budget`, `access` or `price`.
        subject: Which one: a scope, a name, or the part as it is written.
        kind: Whether it came, went or became another.
        old: What it was; empty when it is new.
        new: What it becomes; empty when it is gone.
    """

    section: str
    subject: str
    kind: Kind
    old: str = ""
    new: str = ""

    def __str__(self) -> str:
        """Return the change as one line, its mark first."""
        told = {"added": self.new, "gone": self.old, "changed": f"{self.old} -> {self.new}"}[self.kind]
        return f"{MARKS[self.kind]} {self.section} {self.subject}{f': {told}' if told else ''}"


def differences(old: LoadedPolicy, new: LoadedPolicy) -> tuple[Change, ...]:
    """Return every difference between two policies, sorted."""
    found = [*_members(old, new), *_access(old, new), *_budgets(old.document, new.document)]
    return tuple(sorted({*found, *_parts(old.document, new.document)}, key=_place))


def budgets_of(document: Policy) -> dict[tuple[str, str, int], BudgetSection]:
    """Return every budget by its scope, what it is for, and which of several of those it is."""
    listed: list[tuple[str, BudgetSection]] = [(budget.scope, budget) for budget in document.budgets]
    listed += [(scope, budget) for scope, member in members(document.teams) for budget in member.budgets]
    found: dict[tuple[str, str, int], BudgetSection] = {}
    for scope, budget in listed:
        number = next(n for n in range(len(listed)) if (scope, budget.per, n) not in found)
        found[scope, budget.per, number] = budget
    return found


def _members(old: LoadedPolicy, new: LoadedPolicy) -> Iterator[Change]:
    before, after = _named(old.document), _named(new.document)
    for section, subject in before.keys() ^ after.keys():
        kind: Kind = "added" if (section, subject) in after else "gone"
        yield Change(section, subject, kind)


def _named(document: Policy) -> dict[tuple[str, str], None]:
    scopes = [tuple(scope.split(":", 1)) for scope, _ in members(document.teams)]
    items = [(kind, str(name)) for part, kind in _ITEMS.items() for name in _names(getattr(document, part))]
    return dict.fromkeys([*((kind, name) for kind, name in scopes), *items])


def _names(items: object) -> Iterator[object]:
    if isinstance(items, dict):
        yield from items
    elif isinstance(items, tuple):
        yield from (item.name for item in items)


def _access(old: LoadedPolicy, new: LoadedPolicy) -> Iterator[Change]:
    before, after = reach(old), reach(new)
    for subject in before.keys() | after.keys():
        had, has = _reached(before, subject), _reached(after, subject)
        if had is None or has is None:
            continue  # an app that came or went is told as such
        for model in had ^ has:
            yield Change("access", f"{subject} to {model}", "added" if model in has else "gone")


def _reached(found: Mapping[str, frozenset[str]], subject: str) -> frozenset[str] | None:
    """Return what a feature reaches, which is what its app does where it has no rules of its own."""
    app = "/".join(subject.split("/")[:2])
    return found.get(subject, found.get(app))


def _budgets(old: Policy, new: Policy) -> Iterator[Change]:
    before, after = budgets_of(old), budgets_of(new)
    for scope, per, number in before.keys() | after.keys():
        was, becomes = before.get((scope, per, number)), after.get((scope, per, number))
        if was != becomes:
            subject = f"{scope} per {per}{f' #{number + 1}' if number else ''}"
            yield _change("budget", subject, _amount(was), _amount(becomes))


def _amount(budget: BudgetSection | None) -> str:
    if budget is None:
        return ""
    steps = ", ".join(f"{share}% {action}" for share, action in sorted(budget.steps.items()))
    each = "" if budget.per_request is None else f", {budget.per_request} per request"
    return f"{budget.limit} USD{each}{f' ({steps})' if steps else ''}"


def _parts(old: Policy, new: Policy) -> Iterator[Change]:
    """Tell what is left: every part that differs and does not belong to something that came or went whole."""
    before, after = parts(old), parts(new)
    whole = _whole(old) ^ _whole(new)
    for path in before.keys() | after.keys():
        inside = any(path[:length] in whole for length in range(2, len(path) + 1))
        if before.get(path) != after.get(path) and not inside:
            was = worded(path, before[path]) if path in before else ""
            becomes = worded(path, after[path]) if path in after else ""
            yield _change(_section(path), ".".join(path), was, becomes)


def _whole(document: Policy) -> set[Path]:
    """Name the items of a policy as `parts` names them."""
    items: set[Path] = {(part, str(name)) for part in _ITEMS for name in _names(getattr(document, part))}
    for team in document.teams:
        items.add(("teams", team.name))
        for app in team.apps:
            place = ("teams", team.name, "apps", app.name)
            items |= {place, *((*place, "features", feature.name) for feature in app.features)}
    return items


def _section(path: Path) -> str:
    """Say what kind of thing a part is: what people look for by name, else the top of its path."""
    top, last = path[0], path[-1]
    if "limits" in path:
        return "limits"
    if last == "tiers":
        return "tiers"
    if _PRICES & {*path[2:]}:
        return "price"
    return {
        "teams": "rule",
        "routes": "route",
        "models": "model",
        "providers": "zone" if last == "zone" else "provider",
    }.get(top, top)


def _change(section: str, subject: str, old: str, new: str) -> Change:
    kind: Kind = "added" if not old else "changed" if new else "gone"
    return Change(section, subject, kind, old, new)


def _place(change: Change) -> tuple[int, str, str, str]:
    rank = _ORDER.index(change.section) if change.section in _ORDER else len(_ORDER)
    return rank, change.section, change.subject, change.kind
