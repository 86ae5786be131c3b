"""A policy's governing sections, compiled once into what each request asks of them.

`compile_rules` does the work when a policy is loaded; `Rules.grant` and `Rules.app` are mostly dictionary look-ups.
Scopes nest org, team, app, feature, and a request is under every one that it is in: tiers narrow from the outside in,
ceilings take the least, other output rules the innermost, and every budget and limit on the way applies.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from governance.context.rule import NOTHING_ASKED, ContextRule
from governance.errors import UnknownTeam
from governance.limits import Budget, Rate, resolve
from governance.policy.contexts import ContextSection, within
from governance.policy.sections import FeatureSection, members, scope_of

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Mapping, Sequence
    from zoneinfo import ZoneInfo

    from governance.attribution import Attribution
    from governance.identity import KeyTerms
    from governance.limits.loops import LoopRule
    from governance.policy.sections import (
        AppSection,
        LimitsSection,
        Member,
        OutputSection,
        ScopedBudget,
        TeamSection,
    )


ORG = "org"
_KNOWN_FIRST = ("team", "app", "feature", "workflow", "segment", "environment", "session", "user")
"""The dimensions whose values are known before a model is chosen."""

REMEMBERED: Final = 4_096
"""Grants that are remembered; where there are more, as for many sessions, all are found anew."""


@dataclass(frozen=True, slots=True)
class OutputRule:
    """How long answers may be, in tokens, and which texts end them.

    Attributes:
        default: The length for requests that do not say; None when the policy does not say either.
        ceiling: The length for all; None for no ceiling.
        stop: Texts that end every answer, besides those a request names.
    """

    default: int | None = None
    ceiling: int | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grant:
    """What one request may do.

    Attributes:
        tiers: Tiers of models it may use, in the policy's order.
        route: The route that its feature prescribes, or None.
        output: What its answer may look like.
        budgets: Every budget it spends from, outermost scope first.
        rates: Every limit it counts against, outermost scope first.
        models: The only models it may use, where its key names them; None for all of its tiers.
        falls_to: Those of its tiers that a budget may downgrade it to; None for all of them.
        context: How much context it may carry.
    """

    tiers: tuple[str, ...]
    route: str | None
    output: OutputRule
    budgets: tuple[Budget, ...]
    rates: tuple[Rate, ...]
    models: frozenset[str] | None = None
    falls_to: tuple[str, ...] | None = None
    context: ContextRule = NOTHING_ASKED

    def permits(self, model: str, tier: str) -> bool:
        """Say whether a model of a tier may be used."""
        return tier in self.tiers and (self.models is None or model in self.models)

    def narrowed(self, terms: KeyTerms) -> Grant:
        """Return what is left of this grant for the holder of a key: never more."""
        return replace(
            self,
            tiers=self.tiers if terms.tiers is None else tuple(tier for tier in self.tiers if tier in terms.tiers),
            models=self.models if terms.models is None else frozenset(terms.models),
            budgets=self.budgets + terms.budgets,
        )


@dataclass(frozen=True, slots=True)
class AppRule:
    """How an app's requests are attributed.

    Attributes:
        team: Its team.
        app: Its name.
        settable: Dimensions that its callers may set.
        defaults: Values of dimensions that nobody set.
        segments: Pairs of segment and pattern over the user id, in order.
        hash_user: User ids are kept only as digests.
    """

    team: str
    app: str
    settable: frozenset[str]
    defaults: Mapping[str, str]
    segments: tuple[tuple[str, re.Pattern[str]], ...]
    hash_user: bool

    def segment_of(self, user: str) -> str | None:
        """Name the segment of a user: the first whose pattern is found in the id."""
        return next((name for name, pattern in self.segments if pattern.search(user)), None)


@dataclass(frozen=True, slots=True)
class Rules:
    """The compiled rules of one policy.

    Attributes:
        timezone: The zone whose calendar bounds the budgets' windows.
        loop: When a caller that goes round in circles is stopped.
    """

    timezone: ZoneInfo
    loop: LoopRule | None
    _apps: Mapping[tuple[str, str], AppRule]
    _grants: Mapping[tuple[str, str, str | None], Grant]
    _budgets: Mapping[str, tuple[Budget, ...]]
    _each: tuple[str, ...]
    _given: dict[tuple[object, ...], Grant] = field(default_factory=dict[tuple[object, ...], Grant], compare=False)

    def app(self, team: str, app: str) -> AppRule | None:
        """Return how an app's requests are attributed, or None when the policy has no such app."""
        return self._apps.get((team, app))

    def grant(self, attribution: Attribution, key_id: str, terms: KeyTerms | None = None) -> Grant:
        """Return what a request may do: the very same object for requests of which nothing here differs.

        Args:
            attribution: Whose request it is. A feature that the policy does not name is under its app's rules alone.
            key_id: The public id of the key, which may have budgets of its own.
            terms: What the key narrows; None for nothing.

        Budgets for each value of a dimension are those of the request's values; `model` alone is not yet known.

        Raises:
            UnknownTeam: The policy has no such team and app: the key outlived them.
        """
        values = tuple([getattr(attribution, name) for name in self._each])
        name = (attribution.team, attribution.app, attribution.feature, key_id, terms, values)
        grant = self._given.get(name)
        if grant is None:
            if len(self._given) >= REMEMBERED:
                self._given.clear()
            grant = self._given[name] = self._grant(attribution, key_id, terms)
        return grant

    def written(self, team: str, app: str, feature: str, key_id: str) -> Grant:
        """Return what requests may do as the policy has it: a budget for each value is still that of no one value.

        Raises:
            UnknownTeam: The policy has no such team and app.
        """
        grant = self._grants.get((team, app, feature)) or self._grants.get((team, app, None))
        if grant is None:
            raise UnknownTeam(team, app)
        own = self._budgets.get(f"key:{key_id}")
        return grant if own is None else replace(grant, budgets=grant.budgets + own)

    def _grant(self, attribution: Attribution, key_id: str, terms: KeyTerms | None) -> Grant:
        grant = self.written(attribution.team, attribution.app, attribution.feature, key_id)
        budgets = resolve(grant.budgets, {name: getattr(attribution, name) for name in self._each})
        grant = grant if budgets is grant.budgets else replace(grant, budgets=budgets)
        return grant if terms is None else grant.narrowed(terms)

    def budgets(self) -> tuple[Budget, ...]:
        """Return every budget of the policy, whoever it is for."""
        return tuple(budget for scope in self._budgets.values() for budget in scope)

    def trims(self) -> bool:
        """Say whether anybody's prompts may be cut."""
        return any(grant.context.mode == "trim" for grant in self._grants.values())

    def apps(self) -> tuple[AppRule, ...]:
        """Return every app of the policy, in its order."""
        return tuple(self._apps.values())


def compile_rules(
    *,
    tiers: Sequence[str],
    timezone: ZoneInfo,
    output: OutputSection | None,
    limits: LimitsSection | None,
    budgets: Sequence[ScopedBudget],
    teams: Sequence[TeamSection],
    loop: LoopRule | None = None,
    context: ContextSection | None = None,
) -> Rules:
    """Compile the governing sections of a policy whose names have been checked.

    Args:
        tiers: All tiers, in the policy's order.
        timezone: The policy's time zone.
        output: What answers may look like, for everyone.
        limits: Limits over everyone together.
        budgets: Budgets that name their scope.
        teams: The teams.
        loop: When a caller that goes round in circles is stopped.
        context: How much context requests may carry, for everyone.
    """
    by_scope = _by_scope(budgets, teams)
    shape, carried = _output(OutputRule(), output), within(NOTHING_ASKED, context)
    org = Grant(tuple(tiers), None, shape, by_scope.get(ORG, ()), _rates(ORG, limits), context=carried)
    apps: dict[tuple[str, str], AppRule] = {}
    grants: dict[tuple[str, str, str | None], Grant] = {}
    for team in teams:
        in_team = _narrow(org, scope_of(team), team, by_scope)
        for app in team.apps:
            in_app = _narrow(in_team, scope_of(team, app), app, by_scope)
            apps[team.name, app.name] = _app_rule(team, app)
            grants[team.name, app.name, None] = in_app
            for feature in app.features:
                in_feature = _narrow(in_app, scope_of(team, app, feature), feature, by_scope)
                above = tiers[tiers.index(feature.floor) :] if feature.floor in tiers else tiers
                falls_to = tuple(tier for tier in in_feature.tiers if tier in above)
                grants[team.name, app.name, feature.name] = replace(in_feature, falls_to=falls_to)
    dimensions = {budget.each for listed in by_scope.values() for budget in listed}
    each = tuple(name for name in _KNOWN_FIRST if name in dimensions)
    return Rules(timezone, loop, apps, grants, by_scope, each)


def _by_scope(budgets: Iterable[ScopedBudget], teams: Iterable[TeamSection]) -> dict[str, tuple[Budget, ...]]:
    found: dict[str, list[Budget]] = {}
    for section in budgets:
        found.setdefault(section.scope, []).append(section.of(section.scope))
    for scope, member in members(teams):
        found.setdefault(scope, []).extend(section.of(scope) for section in member.budgets)
    return {scope: tuple(listed) for scope, listed in found.items()}


def _narrow(
    outer: Grant,
    scope: str,
    section: Member,
    budgets: Mapping[str, tuple[Budget, ...]],
) -> Grant:
    """Put a section's own rules inside those of the scope around it; only the innermost, a feature, has a route."""
    return Grant(
        tiers=tuple(tier for tier in outer.tiers if section.tiers is None or tier in section.tiers),
        route=section.route if isinstance(section, FeatureSection) else None,
        output=_output(outer.output, section.output),
        budgets=outer.budgets + budgets.get(scope, ()),
        rates=outer.rates + _rates(scope, section.limits),
        context=within(outer.context, section.context),
    )


def _output(outer: OutputRule, section: OutputSection | None) -> OutputRule:
    if section is None:
        return outer
    ceiling = _least(outer.ceiling, section.max_tokens.ceiling)
    default = outer.default if section.max_tokens.default is None else section.max_tokens.default
    return OutputRule(
        default=default if default is None else _least(default, ceiling),
        ceiling=ceiling,
        stop=outer.stop if section.stop is None else section.stop,
    )


def _rates(scope: str, section: LimitsSection | None) -> tuple[Rate, ...]:
    if section is None:
        return ()
    return (Rate(scope, section.requests_per_minute, section.tokens_per_minute, section.concurrent),)


def _app_rule(team: TeamSection, app: AppSection) -> AppRule:
    return AppRule(
        team=team.name,
        app=app.name,
        settable=frozenset(app.headers),
        defaults={str(dimension): value for dimension, value in app.defaults.items()},
        segments=tuple(team.segments.items()),
        hash_user=team.hash_user,
    )


def _least(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
