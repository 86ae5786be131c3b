"""Routes and fallbacks that never answer anybody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance.attribution import Attribution

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gateway.policy.document import Policy
    from gateway.policy.positions import Path
    from gateway.policy.problems import Problem, Reporter
    from governance.policy.rules import Rules
    from router_models.config import RouteRule


def unreachable(report: Reporter, document: Policy, unpriced: Mapping[str, str]) -> Iterator[Problem]:
    """Find features whose route has no model for them, and models of routes that nobody will be answered by."""
    tiers = {model.name: model.tier for model in document.models}
    rules = document.rules()
    granted = {tier for app in rules.apps() for tier in _tiers(rules, app.team, app.app)}
    for index, route in enumerate(document.routes):
        yield from _unpriced(report, ("routes", index), route, unpriced)
        for place, name in enumerate(route.fallbacks):
            path = ("routes", index, "fallbacks", place)
            if name in (route.weak, route.strong, *route.fallbacks[:place]):
                yield report.at(path, f'"{name}" has been tried before it gets here', "leave it out")
            elif granted and tiers[name] not in granted:
                told = f'is never reached: no team may use tier "{tiers[name]}" of "{name}"'
                yield report.at(path, told, "give a team the tier, or leave the fallback out")
    yield from _features(report, document, rules, tiers)


def _tiers(rules: Rules, team: str, app: str, feature: str = "") -> tuple[str, ...]:
    return rules.grant(Attribution(team, app, feature), "").tiers


def _features(report: Reporter, document: Policy, rules: Rules, tiers: Mapping[str, str]) -> Iterator[Problem]:
    routes = {route.name: route for route in document.routes}
    for t, team in enumerate(document.teams):
        for a, app in enumerate(team.apps):
            for f, feature in enumerate(app.features):
                own = _tiers(rules, team.name, app.name, feature.name)
                route = routes.get(feature.route or "")
                if route is not None and not any(tiers[name] in own for name in route.models):
                    path = ("teams", t, "apps", a, "features", f, "route")
                    needed = ", ".join(dict.fromkeys(tiers[name] for name in route.models))
                    told = f'no model of route "{route.name}" is in its tiers ({", ".join(own) or "none"})'
                    yield report.at(path, told, f"allow one of {needed}, or name another route")


def _unpriced(report: Reporter, path: Path, route: RouteRule, unpriced: Mapping[str, str]) -> Iterator[Problem]:
    fallbacks = [(("fallbacks", place), name) for place, name in enumerate(route.fallbacks)]
    for place, name in ((("weak",), route.weak), (("strong",), route.strong), *fallbacks):
        if name in unpriced:
            yield report.at((*path, *place), f'"{name}" has no price and never answers', "write its prices")
