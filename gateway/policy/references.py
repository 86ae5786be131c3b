"""Names that must mean something: checked on plain data, so that a document with other faults is checked as well.

`REFERENCES` is the whole list of who may name what, and `UNIQUE` of which names must differ; `*` stands for every item
of a list or mapping. Parts of the wrong shape are left alone here: `document.py` reports those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cache.config import ANSWERS
from gateway.policy.problems import one_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway.policy.positions import Path
    from gateway.policy.problems import Problem, Reporter

REFERENCES = (
    ("models.*.provider", "provider"),
    ("models.*.tier", "tier"),
    ("models.*.same_as", "model"),
    ("unknown_model.price_as", "model"),
    ("routes.*.weak", "model"),
    ("routes.*.strong", "model"),
    ("routes.*.fallbacks.*", "model"),
    ("baseline", "model"),
    ("reliability.hedge.models.*", "model or route"),
    ("sensitivity.confine.*", "zone"),
    ("sensitivity.unread", "zone"),
    ("cache.semantic.enabled.*", "app/feature"),
    ("cache.semantic.observe.*", "app/feature"),
    ("cache.semantic.judge", "judge"),
    ("budgets.*.scope", "scope"),
    ("guardrails.*.applies_to.*", "team, app or feature"),
    ("teams.*.tiers.*", "tier"),
    ("teams.*.apps.*.tiers.*", "tier"),
    ("teams.*.apps.*.features.*.tiers.*", "tier"),
    ("teams.*.apps.*.features.*.route", "route"),
    ("teams.*.apps.*.features.*.floor", "tier"),
)

UNIQUE = (
    ("tiers", ""),
    ("models", "name"),
    ("routes", "name"),
    ("guardrails", "name"),
    ("teams", "name"),
    ("teams.*.apps", "name"),
    ("teams.*.apps.*.features", "name"),
)

SELLERS = ("openai", "anthropic", "gemini", "bedrock")
"""Kinds of provider that sell tokens: what their machines cost and do is not ours to measure."""


def select(data: object, pattern: str) -> Iterator[tuple[Path, object]]:
    """Find every part of a document that a pattern such as `teams.*.tiers` names, with its path."""
    found: list[tuple[Path, object]] = [((), data)]
    for step in pattern.split("."):
        found = [((*path, key), child) for path, part in found for key, child in _children(part) if step in ("*", key)]
    yield from found


def check_references(report: Reporter) -> Iterator[Problem]:
    """Find names that mean nothing, mean two things, or contradict one another."""
    data = report.parsed.data
    known = _known(data)
    for pattern, kind in REFERENCES:
        for path, name in select(data, pattern):
            if isinstance(name, str) and name not in known[kind] and not (kind == "scope" and name.startswith("key:")):
                yield report.at(path, f'unknown {kind} "{name}"', one_of(name, known[kind]))
    yield from _repeated(report)
    yield from _tiers_of_nobody(report)
    yield from _unmeasurable(report)
    yield from _mixed_routes(report)
    yield from _unequal(report)
    for path, name in select(data, "routes.*.name"):
        if isinstance(name, str) and name in known["model"]:
            yield report.at(path, f'"{name}" is the name of a model too')


def _known(data: object) -> dict[str, set[str]]:
    def texts(pattern: str) -> set[str]:
        return {value for _, value in select(data, pattern) if isinstance(value, str)}

    teams = [(team, _name(team)) for _, team in select(data, "teams.*")]
    apps = [(app, team, _name(app)) for part, team in teams for _, app in select(part, "apps.*")]
    features = [(team, app, _name(feature)) for part, team, app in apps for _, feature in select(part, "features.*")]
    return {
        "provider": {str(path[-1]) for path, _ in select(data, "providers.*")},
        "tier": texts("tiers.*"),
        "model": texts("models.*.name"),
        "route": texts("routes.*.name"),
        "model or route": {*texts("models.*.name"), *texts("routes.*.name")},
        "judge": {ANSWERS, *texts("models.*.name")},
        "zone": {"allow", "refuse", "onprem", *texts("providers.*.zone"), *texts("sensitivity.zones.*")},
        "app/feature": {f"{app}/{feature}" for _, app, feature in features},
        "team, app or feature": {
            *(f"{team}" for _, team in teams),
            *(f"{team}/{app}" for _, team, app in apps),
            *(f"{team}/{app}/{feature}" for team, app, feature in features),
        },
        "scope": {
            "org",
            *(f"team:{team}" for _, team in teams),
            *(f"app:{team}/{app}" for _, team, app in apps),
            *(f"feature:{team}/{app}/{feature}" for team, app, feature in features),
        },
    }


def _repeated(report: Reporter) -> Iterator[Problem]:
    for pattern, field in UNIQUE:
        for path, items in select(report.parsed.data, pattern):
            seen: set[str] = set()
            for index, item in enumerate(items if isinstance(items, list) else ()):
                name = _name(item) if field else item
                if isinstance(name, str) and name in seen:
                    at = (*path, index, field) if field else (*path, index)
                    yield report.at(at, f'"{name}" is given twice')
                elif isinstance(name, str):
                    seen.add(name)


def _tiers_of_nobody(report: Reporter) -> Iterator[Problem]:
    """Find tiers that an app or feature allows though what is around it does not, so that they would never work."""
    for path, tiers in select(report.parsed.data, "teams.*.apps.*.tiers"):
        yield from _outside(report, path, tiers, path[:2])
    for path, tiers in select(report.parsed.data, "teams.*.apps.*.features.*.tiers"):
        yield from _outside(report, path, tiers, path[:4])
        yield from _outside(report, path, tiers, path[:2])


def _outside(report: Reporter, path: Path, tiers: object, around: Path) -> Iterator[Problem]:
    outer = _at(report.parsed.data, (*around, "tiers"))
    known = {value for _, value in select(report.parsed.data, "tiers.*") if isinstance(value, str)}
    if not isinstance(outer, list) or not isinstance(tiers, list):
        return
    for index, tier in enumerate(tiers):
        if isinstance(tier, str) and tier in known and tier not in outer:
            yield report.at(
                (*path, index), f'tier "{tier}" is not among those of "{_name(_at(report.parsed.data, around))}"'
            )


def _unmeasurable(report: Reporter) -> Iterator[Problem]:
    """Find models whose price should be measured on a machine that has no price, or is not ours."""
    data = report.parsed.data
    for path, price in select(data, "models.*.price"):
        provider = _at(data, ("providers", str(_at(data, (*path[:-1], "provider")))))
        if price != "measured" or not isinstance(provider, dict):
            continue
        if provider.get("kind") in SELLERS:
            yield report.at(path, "only a machine of your own can be measured", 'write "list" or the prices')
        elif "machine_usd_per_hour" not in provider:
            yield report.at(path, "cannot be measured", "give the provider machine_usd_per_hour")


def _mixed_routes(report: Reporter) -> Iterator[Problem]:
    """Find routes whose models do not all make the same: no request could use them all."""
    data = report.parsed.data
    kinds = {_name(model): _at(model, ("kind",)) or "chat" for _, model in select(data, "models.*")}
    for path, route in select(data, "routes.*"):
        weak = kinds.get(_text(_at(route, ("weak",))))
        for place, name in (*select(route, "strong"), *select(route, "fallbacks.*")):
            if weak is not None and kinds.get(_text(name), weak) != weak:
                yield report.at((*path, *place), f'"{name}" makes another kind of answer than the weak model')


def _unequal(report: Reporter) -> Iterator[Problem]:
    """Find deployments of a model that cannot stand in for it: they are of another kind, or it is one itself."""
    models = {_name(model): model for _, model in select(report.parsed.data, "models.*")}
    for path, name in select(report.parsed.data, "models.*.same_as"):
        model, own = models.get(_text(name)), _at(report.parsed.data, path[:-1])
        if _at(model, ("same_as",)) is not None:
            yield report.at(path, f'"{name}" is itself the same as another model', "name that one")
        elif model is not None and (_at(model, ("kind",)) or "chat") != (_at(own, ("kind",)) or "chat"):
            yield report.at(path, f'"{name}" makes another kind of answer')


def _children(part: object) -> Iterator[tuple[str | int, object]]:
    if isinstance(part, dict):
        yield from part.items()
    elif isinstance(part, list | tuple):
        yield from enumerate(part)


def _name(part: object) -> str | None:
    return _text(part.get("name")) if isinstance(part, dict) else None


def _text(part: object) -> str | None:
    return part if isinstance(part, str) else None


def _at(data: object, path: Path) -> object:
    for step in path:
        data = dict(_children(data)).get(step)
    return data
