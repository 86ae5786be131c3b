"""Routes and fallbacks that never answer anybody."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gateway.policy.document import Policy
    from gateway.policy.positions import Path
    from gateway.policy.problems import Problem, Reporter
    from router_models.config import RouteRule


def unreachable(report: Reporter, document: Policy, unpriced: Mapping[str, str]) -> Iterator[Problem]:
    """Find features whose route has no model for them, and models of routes that nobody will be answered by."""
    tiers = {model.name: model.tier for model in document.models}
    granted = _granted(document)
    for index, route in enumerate(document.routes):
        yield from _unpriced(report, ("routes", index), route, unpriced)
        for place, name in enumerate(route.fallbacks):
            path = ("routes", index, "fallbacks", place)
            if name in (route.weak, route.strong, *route.fallbacks[:place]):
                yield report.at(path, f'"{name}" has been tried before it gets here', "leave it out")
            elif granted and tiers[name] not in granted:
                told = f'is never reached: no team may use tier "{tiers[name]}" of "{name}"'
                yield report.at(path, told, "give a team the tier, or leave the fallback out")
    yield from _features(report, document, tiers)


def _granted(document: Policy) -> set[str]:
    """Name the tiers that some app may use; none where there are no apps yet."""
    return {tier for app in document.rules().apps() for tier in _tiers(document, app.team, app.app)}


def _tiers(document: Policy, team: str, app: str) -> tuple[str, ...]:
    outer = next(one for one in document.teams if one.name == team)
    inner = next(one for one in outer.apps if one.name == app)
    return tuple(
        tier
        for tier in document.tiers
        if (outer.tiers is None or tier in outer.tiers) and (inner.tiers is None or tier in inner.tiers)
    )


def _features(report: Reporter, document: Policy, tiers: Mapping[str, str]) -> Iterator[Problem]:
    routes = {route.name: route for route in document.routes}
    for t, team in enumerate(document.teams):
        for a, app in enumerate(team.apps):
            allowed = _tiers(document, team.name, app.name)
            for f, feature in enumerate(app.features):
                own = [tier for tier in allowed if feature.tiers is None or tier in feature.tiers]
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
