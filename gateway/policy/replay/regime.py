"""A policy as a request of the past would meet it: its grant, what it asked for, and who answers.

The choice is made by the gateway's own `Catalogue`, over providers as they were then. Nobody calls them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from gateway.catalogue import Catalogue, Kind, Model
from gateway.errors import ModelNotFound
from gateway.providers.absent import AbsentUpstream
from governance.confinement.confined import UNRULED
from governance.errors import UnknownTeam
from governance.identity import UNNARROWED
from governance.ledger.events import EventKind
from governance.limits import resolve
from governance.money import ZERO
from governance.prices import Price
from governance.prices.tariff import always
from router_models.errors import NoRoute
from router_models.router import DOWNGRADED, Route

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gateway.policy.models import ModelSection
    from gateway.policy.source import LoadedPolicy
    from governance.identity import KeyTerms
    from governance.policy.rules import Grant
    from router_models.config import RouteRule

CACHE: Final = "cache"
GIVEN_AGAIN: Final = "idempotent"
"""The route of an answer that was given again under its idempotency key."""
TIGHTENED: Final = "budget:tighten"
_PINNED: Final = "pinned"
_REFUSED: Final = EventKind.REFUSED.value
_ANY_PRICE: Final = always(Price(input=ZERO, output=ZERO, source="of the past"))
"""A choice asks only whether there is a price."""


class Met(NamedTuple):
    """Everything about a request of the past that a decision depends on, but for its amounts and what it met then.

    One that was refused names in `model` what was asked for.
    """

    kind: str
    version: str
    team: str
    app: str
    feature: str
    key_id: str
    endpoint: str
    model: str
    provider: str
    route: str

    @property
    def refused(self) -> bool:
        """Whether it was turned away."""
        return self.kind == _REFUSED

    @property
    def reason(self) -> str:
        """Why its model answered."""
        return self.route.partition(";")[0]

    @property
    def tightened(self) -> bool:
        """Whether a budget shortened its answer."""
        return self.route.partition(";")[2] == TIGHTENED

    @property
    def makes(self) -> Kind:
        """What it was after: a chat answer or vectors."""
        return "embedding" if self.endpoint == "embeddings" else "chat"


class Circumstances(NamedTuple):
    """What a request of the past found, as far as its answer tells: its zone, and the models that were down."""

    zone: str | None = None
    down: frozenset[str] = frozenset()


class Regime:
    """One policy, with the terms of keys as they are on record."""

    def __init__(self, policy: LoadedPolicy, terms: Mapping[str, KeyTerms]) -> None:
        self.policy = policy
        self._terms = terms
        self._routes = {route.name: route for route in policy.document.routes}
        self._models = {model.name: model for model in policy.document.models}
        self._catalogues: dict[frozenset[str], Catalogue] = {}
        section = policy.document.sensitivity
        self._confinement = UNRULED if section is None else section.rule

    def grant(self, met: Met) -> Grant | None:
        """Return what a request may do, or None when the policy does not have its app."""
        try:
            grant = self.policy.rules.written(met.team, met.app, met.feature, met.key_id)
        except UnknownTeam:
            return None
        return grant.narrowed(self._terms.get(met.key_id, UNNARROWED))

    def wish(self, met: Met, grant: Grant, downgrade: int = 0) -> str:
        """Return what a request asked for: the ledger keeps who answered, and why, but not the name it used.

        Of one that a budget brought down, nobody knows how far; `downgrade` tiers are tried first.
        """
        if met.refused or met.reason == _PINNED:
            return met.model
        if met.reason == DOWNGRADED:
            return next(self._downgraded(met, grant, downgrade), met.model)
        fitting = [route.name for route in self._routes.values() if _explains(route, met)]
        return grant.route if grant.route in fitting else next(iter(fitting), met.model)

    def target(self, grant: Grant, wish: str) -> ModelSection | RouteRule | None:
        """Return the model or route that a wish stands for."""
        return self._routes.get(grant.route or wish) if wish in self._routes else self._models.get(wish)

    def circumstances(self, met: Met, grant: Grant, wish: str) -> Circumstances:
        """Return what a request must have found: the models before the one that answered were down."""
        name, _, about = met.reason.partition(":")
        zone = about if name == "zone" else None
        target = self._routes.get(grant.route or wish) if wish in self._routes else None
        if met.refused or target is None or met.provider == CACHE or met.model not in target.models:
            return Circumstances(zone)
        if met.reason == DOWNGRADED:
            return Circumstances()
        before = target.models[: target.models.index(met.model)]
        down = (name for name in before if self.permits(grant, name) and zone in {None, self.zone(name)})
        return Circumstances(zone, frozenset(down))

    def choose(self, met: Met, grant: Grant, wish: str, then: Circumstances, downgrade: int) -> Route:
        """Return who answers.

        Raises:
            ModelNotFound: There is no such model or route of that kind.
            NoRoute: No model of it is allowed, in the zone and available.
        """
        catalogue = self._catalogue(then.down)
        # Vectors of another model mean nothing beside those a caller has: they are never downgraded.
        steps = 0 if met.makes == "embedding" else downgrade
        return catalogue.choose(catalogue.wish(wish, met.makes, grant), grant, self._confinement.to(then.zone), steps)

    def permits(self, grant: Grant, name: str) -> bool:
        """Say whether a grant holds a model."""
        model = self._models.get(name)
        return model is not None and grant.permits(name, model.tier)

    def zone(self, name: str) -> str:
        """Name the zone of a model's provider; empty when there is no such model."""
        model = self._models.get(name)
        return "" if model is None else self.policy.document.providers[model.provider].zone

    def _downgraded(self, met: Met, grant: Grant, downgrade: int) -> Iterator[str]:
        """Find the wishes that a budget can have brought down to the model that answered, likely ones first."""
        for steps in (downgrade, *range(1, len(self.policy.document.tiers))):
            for wish in (*self._routes, *self._models):
                try:
                    route = self.choose(met, grant, wish, Circumstances(), steps)
                except (NoRoute, ModelNotFound):
                    continue
                if (route.model, route.reason) == (met.model, DOWNGRADED):
                    yield wish

    def _catalogue(self, down: frozenset[str]) -> Catalogue:
        found = self._catalogues.get(down)
        if found is None:
            found = self._catalogues[down] = self._made(down)
        return found

    def _made(self, down: frozenset[str]) -> Catalogue:
        """Make a catalogue in which each model has a provider of its own, because each may have been down alone."""
        unpriced = self.policy.unpriced
        models = [
            Model(name, name, one.model, one.tier, one.kind, None if name in unpriced else _ANY_PRICE, one.same_as)
            for name, one in self._models.items()
        ]
        upstreams = {
            name: AbsentUpstream(name, self.zone(name), "was down" if name in down else "") for name in self._models
        }
        return Catalogue(models, self._routes.values(), upstreams, None)


def resolved(grant: Grant, met: Met) -> Grant:
    """Return a grant whose budgets for each team, app and feature are those of the request's own."""
    budgets = resolve(grant.budgets, {"team": met.team, "app": met.app, "feature": met.feature})
    return grant if budgets == grant.budgets else replace(grant, budgets=budgets)


def _explains(route: RouteRule, met: Met) -> bool:
    """Say whether a request for a route may have been answered by the model, for the reason, that were recorded."""
    if met.model not in route.models:
        return False
    reason, _, about = met.reason.partition(":")
    return {
        "weak": route.weak == met.model,
        "tier": route.weak == about,
        "unavailable": route.weak == about,
        "zone": route.weak != met.model,
    }.get(reason, True)
