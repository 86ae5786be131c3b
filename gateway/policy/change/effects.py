"""What a change of policy means for those who spend: where each budget stands, and who would be refused.

The ledger is read, never written. A change refuses somebody when what they did lately would not be let through now
and the old policy let it through: their app is gone, no model is left that may answer them, or a budget over them is
spent already.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from gateway.policy.change.access import models_in
from gateway.policy.change.differences import Change, budgets_of, differences
from governance.identity import UNNARROWED
from governance.keys import list_keys
from governance.ledger.reading.spending import spent
from governance.ledger.reading.traffic import Used, used
from governance.limits import dimensions_of
from governance.money import ZERO, Nanodollars
from governance.windows import Calendar, Span, WindowKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from gateway.policy.document import Policy
    from gateway.policy.source import LoadedPolicy
    from governance.database import Database
    from governance.identity import KeyTerms
    from governance.policy.rules import Grant

LATELY: Final = timedelta(days=7)
_SO_FAR: Final = {
    WindowKind.MINUTE: "this minute",
    WindowKind.HOUR: "this hour",
    WindowKind.DAY: "today",
    WindowKind.WEEK: "this week",
    WindowKind.MONTH: "this month",
    WindowKind.QUARTER: "this quarter",
}


@dataclass(frozen=True, slots=True)
class BudgetStanding:
    """Where a budget of the new policy stands that is new or has another limit.

    Attributes:
        old_limit: What it was, or None when it is new.
        spent: What its scope has spent in the window so far.
    """

    scope: str
    window: Span
    old_limit: Nanodollars | None
    limit: Nanodollars
    spent: Nanodollars

    @property
    def passed(self) -> bool:
        """Whether nothing is left of it."""
        return self.spent >= self.limit

    def __str__(self) -> str:
        """Return the standing as one sentence."""
        before = "" if self.old_limit is None else f" of {self.old_limit.usd}"
        verdict = "is already passed" if self.passed else f"leaves {(self.limit - self.spent).usd}"
        so_far = f"{self.scope} has spent {self.spent.usd}{before} {_so_far(self.window)}"
        return f"{so_far}: the new limit {self.limit.usd} {verdict}"


@dataclass(frozen=True, slots=True)
class Refused:
    """Somebody who spent lately and would be refused: `scope` says who, `why` what stands in the way."""

    scope: str
    why: str
    spent: Nanodollars

    def __str__(self) -> str:
        """Return it as one sentence."""
        return f"{self.scope} would be refused: {self.why} (spent {self.spent.usd} in the last {LATELY.days} days)"


@dataclass(frozen=True, slots=True)
class ChangeReport:
    """The difference of two policies; with the ledger at hand, what it means too.

    Attributes:
        old: The old policy's source and version.
        new: The new policy's.
    """

    old: tuple[str, str]
    new: tuple[str, str]
    changes: tuple[Change, ...]
    standings: tuple[BudgetStanding, ...] = ()
    refused: tuple[Refused, ...] = ()

    def lines(self) -> list[str]:
        """Return the report for people."""
        told = [str(change) for change in self.changes] or ["no difference"]
        return [*told, *map(str, self.standings), *map(str, self.refused)]

    def facts(self) -> dict[str, Any]:
        """Return the report for programs, as plain data."""
        return {
            "old": dict(zip(("source", "version"), self.old, strict=True)),
            "new": dict(zip(("source", "version"), self.new, strict=True)),
            "changes": [_facts(change) for change in self.changes],
            "budgets": [
                {
                    "scope": one.scope,
                    "window": one.window.value,
                    "old_limit_usd": None if one.old_limit is None else one.old_limit.usd,
                    "limit_usd": one.limit.usd,
                    "spent_usd": one.spent.usd,
                    "passed": one.passed,
                }
                for one in self.standings
            ],
            "refused": [{"scope": one.scope, "why": one.why, "spent_usd": one.spent.usd} for one in self.refused],
        }


def _so_far(window: Span) -> str:
    return _SO_FAR[window] if isinstance(window, WindowKind) else f"in {window.value}"


def compare(old: LoadedPolicy, new: LoadedPolicy) -> ChangeReport:
    """Compare two policies as they are written."""
    return ChangeReport((old.source, old.version), (new.source, new.version), differences(old, new))


async def plan(old: LoadedPolicy, new: LoadedPolicy, database: Database, at: datetime) -> ChangeReport:
    """Compare two policies, and hold the difference against what the ledger knows at an instant.

    Raises:
        StoreUnavailable: The ledger cannot be read.
    """
    report = compare(old, new)
    lately = await used(database, at - LATELY, at)
    standings = await _standings(old.document, new.document, database, at)
    keys = {record.caller.key_id: record.caller.terms for record in await list_keys(database)}
    refused = sorted(
        {*_shut_out(old, new, lately, keys), *_over(standings, lately)}, key=lambda one: (one.scope, one.why)
    )
    return ChangeReport(report.old, report.new, report.changes, standings, tuple(refused))


async def _standings(old: Policy, new: Policy, database: Database, at: datetime) -> tuple[BudgetStanding, ...]:
    before, found = budgets_of(old), list[BudgetStanding]()
    for (scope, name, number), budget in sorted(budgets_of(new).items(), key=lambda item: item[0]):
        was = before.get((scope, name, number))
        if budget.each is None and (was is None or was.limit != budget.limit):
            total = await spent(database, scope, Calendar().window(budget.window, at, new.timezone))
            found.append(BudgetStanding(scope, budget.window, was.limit if was else None, budget.limit, total))
    return tuple(found)


def _over(standings: Iterable[BudgetStanding], lately: Iterable[Used]) -> Iterator[Refused]:
    """Find spent budgets whose scope was active lately, less those that were spent under the old limit as well."""
    for standing in standings:
        already = standing.old_limit is not None and standing.spent >= standing.old_limit
        within = [one for one in lately if _is_of(one, standing.scope)]
        if standing.passed and within and not already:
            why = f"its budget of {standing.limit.usd} per {standing.window.value} is spent ({standing.spent.usd})"
            yield Refused(standing.scope, why, _total(within))


def _is_of(one: Used, scope: str) -> bool:
    return all(getattr(one, column) == name for column, name in dimensions_of(scope).items())


def _shut_out(
    old: LoadedPolicy, new: LoadedPolicy, lately: Iterable[Used], keys: Mapping[str, KeyTerms]
) -> Iterator[Refused]:
    """Find callers that the old policy answered and the new one has no app or no model for."""
    reasons: dict[tuple[str, str], list[Used]] = {}
    for one in lately:
        terms = keys.get(one.key_id, UNNARROWED)
        why = _obstacle(new, one, terms)
        if why and not _obstacle(old, one, terms):
            reasons.setdefault((f"app:{one.team}/{one.app}", why), []).append(one)
    for (scope, why), those in reasons.items():
        yield Refused(scope, why, _total(those))


def _obstacle(policy: LoadedPolicy, one: Used, terms: KeyTerms) -> str:
    """Say why a policy would not answer what somebody asked lately; empty when it would."""
    if policy.rules.app(one.team, one.app) is None:
        return "the policy has no such app"
    grant = policy.rules.written(one.team, one.app, one.feature, one.key_id).narrowed(terms)
    models = models_in(policy, grant)
    pinned = one.route == "pinned"
    if one.model in models or (not pinned and _routed(policy.document, grant, models)):
        return ""
    return f"it may no longer use {one.model}" if pinned else "no route has a model that it may use"


def _routed(document: Policy, grant: Grant, models: frozenset[str]) -> bool:
    """Say whether some route that a caller may name has a model for it; a feature's own route stands for all."""
    return any(models & {*route.models} for route in document.routes if grant.route in (None, route.name))


def _total(those: Iterable[Used]) -> Nanodollars:
    return sum((one.cost for one in those), ZERO)


def _facts(change: Change) -> dict[str, str]:
    return {
        "section": change.section,
        "subject": change.subject,
        "kind": change.kind,
        "old": change.old,
        "new": change.new,
    }
