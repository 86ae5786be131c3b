"""Groups of deployments, their fallbacks and aliases: models where one is enough, and routes where there are several.

Applications go on to ask for the names they know. A name with one deployment is a model; a name with more, or with
fallbacks, is a route, and its models are called `name@provider`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gateway.importing.draft import ModelDraft, ProviderDraft, RouteDraft

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gateway.importing.deployments import Deployment
    from gateway.importing.source import Source
    from gateway.policy.positions import Path

_ANY = "*"
_LONGEST_NAME = 150


@dataclass(frozen=True, slots=True)
class Offer:
    """What applications may ask for, and who serves it."""

    providers: Mapping[str, ProviderDraft]
    models: tuple[ModelDraft, ...]
    routes: tuple[RouteDraft, ...]


@dataclass(frozen=True, slots=True)
class _Names:
    """Makes names that a policy allows, each once."""

    taken: set[str] = field(default_factory=set[str])

    def new(self, wanted: str) -> str:
        """Return the name itself where it may be had, or one like it."""
        stem = re.sub(r"[^A-Za-z0-9._:/@+-]+", "-", wanted).lstrip("._:/@+-")[:_LONGEST_NAME] or "model"
        name, number = stem, 1
        while name in self.taken:
            number += 1
            name = f"{stem}-{number}"
        self.taken.add(name)
        return name


def offer(source: Source, deployments: Iterable[Deployment]) -> Offer:
    """Name everything, and connect it."""
    groups: dict[str, list[Deployment]] = {}
    for deployment in deployments:
        groups.setdefault(deployment.group, []).append(deployment)
    names, fallbacks = _Names(), _fallbacks(source, groups)
    public = {group: names.new(group) for group in groups}
    providers = _providers(each for members in groups.values() for each in members)
    models: dict[str, list[ModelDraft]] = {}
    for group, members in groups.items():
        if public[group] != group:
            source.change((*members[0].path, "model_name"), f"Is called {public[group]} here.")
        single = len(members) == 1 and not fallbacks[group]
        models[group] = [
            _model(
                public[group] if single else names.new(f"{public[group]}@{_owner(providers, each)}"), each, providers
            )
            for each in sorted(members, key=lambda each: each.order)
        ]
    routes = {
        group: RouteDraft(
            public[group], tuple(dict.fromkeys(model.name for name in (group, *others) for model in models[name]))
        )
        for group, others in fallbacks.items()
        if len(models[group]) > 1 or others
    }
    aliases = list(_aliases(source, groups))
    named = {alias: names.new(alias) for _, alias, _ in aliases}
    for path, alias, target in aliases:
        own = routes[target].models if target in routes else (models[target][0].name,)
        routes[alias] = RouteDraft(named[alias], own)
        if named[alias] != alias:
            source.change(path, f"Is called {named[alias]} here.")
    return Offer(providers, tuple(model for members in models.values() for model in members), tuple(routes.values()))


def _providers(deployments: Iterable[Deployment]) -> dict[str, ProviderDraft]:
    """Name every provider that is used: by its prefix, with a number from the second of the prefix on."""
    names, named = _Names(), dict[ProviderDraft, str]()
    for deployment in deployments:
        if deployment.provider not in named:
            named[deployment.provider] = names.new(deployment.prefix)
    return {name: provider for provider, name in named.items()}


def _owner(providers: Mapping[str, ProviderDraft], deployment: Deployment) -> str:
    return next(name for name, provider in providers.items() if provider == deployment.provider)


def _model(name: str, deployment: Deployment, providers: Mapping[str, ProviderDraft]) -> ModelDraft:
    return ModelDraft(name, _owner(providers, deployment), deployment.model, deployment.kind, deployment.rates)


def _fallbacks(source: Source, groups: Mapping[str, list[Deployment]]) -> dict[str, tuple[str, ...]]:
    """Read which groups follow each group, those for all last."""
    stated = [found for section in ("router_settings", "litellm_settings") for found in _stated(source, section)]
    found: dict[str, tuple[str, ...]] = {}
    for group, members in groups.items():
        wanted = [(path, name) for path, owner, name in stated if owner == group]
        wanted += [(path, name) for path, owner, name in stated if owner == _ANY and name != group]
        kept = list[str]()
        for path, name in wanted:
            if name not in groups:
                source.leave_out(path, "Names a model that is not in the policy.")
            elif groups[name][0].kind != members[0].kind:
                source.leave_out(path, "Makes something else than the model that it should stand in for.")
            elif name != group:
                kept.append(name)
        found[group] = tuple(dict.fromkeys(kept))
    for path, owner, _ in stated:
        if owner not in groups and owner != _ANY:
            source.leave_out(path[:-1], "Is a fallback of a model that is not in the policy.")
    return found


def _stated(source: Source, section: str) -> Iterator[tuple[Path, str, str]]:
    """Yield each fallback of a section with its path and whose it is."""
    for index in source.items(section, "fallbacks"):
        for owner in source.keys(section, "fallbacks", index):
            for path, name in source.texts(section, "fallbacks", index, owner):
                yield path, owner, name
    for path, name in source.texts(section, "default_fallbacks"):
        yield path, _ANY, name


def _aliases(source: Source, groups: Mapping[str, list[Deployment]]) -> Iterator[tuple[Path, str, str]]:
    """Yield the path of each alias, the alias, and the group that it stands for."""
    for section in ("router_settings", "litellm_settings"):
        for alias in source.keys(section, "model_group_alias"):
            path = (section, "model_group_alias", alias)
            place = (*path, "model") if source.is_mapping(*path) else path
            target = source.text(*place)
            if target is None or target not in groups:
                source.leave_out(path, "Stands for a model that is not in the policy.")
            elif alias in groups:
                source.leave_out(path, "Is the name of a model too, which comes first.")
            else:
                yield path, alias, target
