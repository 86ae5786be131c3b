"""The policy's models and routes, made callable: who serves them, at what price, and whether they answer now."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import time
from typing import Final, Literal

from gateway.attempts.deployments import Deployment, Deployments
from gateway.errors import ModelNotFound
from gateway.policy.reliability import Balance
from gateway.providers.upstream import Upstream
from governance.confinement.confined import Confined
from governance.money import Nanodollars
from governance.policy.rules import Grant
from governance.prices import DEAREST, Price, Service, Tariff, Usage, cost_of, measured_price
from governance.prices.tariff import Current
from router_models.config import RouteRule
from router_models.deciding import Opinion
from router_models.errors import NotAllowed
from router_models.router import DOWNGRADED, Candidate, Route, cheaper, choose_route, pinned

Kind = Literal["chat", "embedding"]

FALLBACK: Final = "fallback"
"""The reason of a route to a model that answers for one that failed, with its place among those that do."""

_TYPICAL: Final = Usage(fresh_input=3_000, output=1_000)
"""By what equal deployments are compared whose prices differ."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A price made of the machine's cost and of what the provider measures it can do."""

    machine_usd_per_hour: Nanodollars


@dataclass(frozen=True, slots=True)
class Model:
    """One model of the policy.

    Attributes:
        name: what the policy and its callers call it.
        upstream_model: what its provider calls it.
        price: what it costs, how to measure that, or None when nobody knows: it is then unavailable, never free.
        same_as: the model that it is another deployment of.
    """

    name: str
    provider: str
    upstream_model: str
    tier: str
    kind: Kind
    price: Tariff | Measured | None
    same_as: str | None = None


Leaning = Callable[[Sequence[Model]], Sequence[Model]]
"""Puts deployments that the policy's balance has put into an order into another one."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a caller asked for, once it is known that it may: a model, or a route and the models it may choose from."""

    name: str
    target: Model | RouteRule


class Catalogue:
    """Every model and route of one policy, with the providers behind them. `clock` counts seconds since the epoch."""

    def __init__(
        self,
        models: Iterable[Model],
        routes: Iterable[RouteRule],
        upstreams: Mapping[str, Upstream],
        baseline: str | None,
        clock: Callable[[], float] = time,
        deployments: Deployments | None = None,
        balance: Balance = "cheapest",
    ) -> None:
        self.models = {model.name: model for model in models}
        self._tariffs = {
            name: Current(model.price)
            for name, model in self.models.items()
            if model.price is not None and not isinstance(model.price, Measured)
        }
        self._clock = clock
        self._routes = {route.name: route for route in routes}
        self._upstreams = upstreams
        self._baseline = baseline
        self._deployments = deployments or Deployments()
        self._balance: Balance = balance
        self._equals = {name: self._equals_of(name) for name in self.models}
        self._meanings = {name: self._meaning(name, target) for name, target in (self._routes | self.models).items()}

    def wish(self, asked: str, kind: Kind, grant: Grant) -> Wish:
        """Return what `asked` stands for; a feature's own route stands in for any route its callers name.

        Raises:
            ModelNotFound: there is no such model or route of that kind.
            NotAllowed: the caller's tiers hold none of its models.
        """
        target = self._routes.get(grant.route or asked) if asked in self._routes else self.models.get(asked)
        if target is None or kind not in self._kinds(target):
            raise ModelNotFound(f"There is no {kind} model or route named {asked!r}.", asked)
        if not any(self.grants(model.name, grant) for model in self._reached(target)):
            raise NotAllowed(route=asked, models=_names(target))
        return Wish(asked, target)

    def choose(
        self,
        wish: Wish,
        grant: Grant,
        confined: Confined,
        downgrade: int = 0,
        leaning: Leaning | None = None,
        opinion: Opinion | None = None,
    ) -> Route:
        """Return the model that answers, and why.

        Args:
            wish: What was asked for.
            grant: What the caller may use.
            confined: Where the request may go.
            downgrade: By how many tiers the model should be cheaper than the one that the wish alone would get.
            leaning: Puts equal deployments into their order; without it the policy's balance does.
            opinion: Which of a route's two models the prompt needs.

        Raises:
            NoRoute: no model of the wish is allowed, in the zone and available.
        """
        best = {name: self._best(name, grant, confined, leaning) for name in _names(wish.target)}
        candidates = {name: replace(candidate, name=name) for name, candidate in best.items()}
        if isinstance(wish.target, Model):
            route = pinned(candidates[wish.target.name], confined.zone)
        else:
            route = choose_route(wish.target, candidates, confined.zone, opinion)
        route = replace(route, model=best[route.model].name)
        return cheaper(route, self._below(route, wish, grant, confined), downgrade) if downgrade else route

    def choose_after(
        self, tried: Sequence[Route], wish: Wish, grant: Grant, confined: Confined, *, beside: Collection[str] = ()
    ) -> Route | None:
        """Return the model that answers when those of the `tried` routes could not; None when there is no other.

        Other deployments of the first choice come first, then the other models of the wish in their order. A request
        that a budget brought down falls back no higher, and vectors are those of one model alone. `tried` has the first
        choice first; models `beside` those are out of the question for other reasons.
        """
        first = self.models[tried[0].model]
        others = () if first.kind == "embedding" else _names(wish.target)
        highest = grant.tiers.index(first.tier) if tried[0].reason == DOWNGRADED else len(grant.tiers)
        out = {route.model for route in tried} | {*beside}
        names = dict.fromkeys((first.same_as or first.name, *others))
        able = (one.name for name in names for one in self._candidates(name, grant, confined) if one.usable)
        left = (name for name in able if name not in out)
        found = next((name for name in left if grant.tiers.index(self.models[name].tier) <= highest), None)
        return None if found is None else Route(found, f"{FALLBACK}:{len(tried)}", tried[0].name)

    def _best(self, name: str, grant: Grant, confined: Confined, leaning: Leaning | None) -> Candidate:
        """Return the deployment of a model that answers for it; the model's own where none can."""
        candidates = self._candidates(name, grant, confined, leaning)
        own = next(candidate for candidate in candidates if candidate.name == name)
        return next((candidate for candidate in candidates if candidate.usable), own)

    def _candidates(self, name: str, grant: Grant, confined: Confined, lean: Leaning | None = None) -> list[Candidate]:
        """Return every deployment of a model, those that should answer first before the others."""
        ordered: Sequence[Model] = self._equals[name]
        if len(ordered) > 1:
            ordered = (lean or list)(sorted(ordered, key=self._rank))
        return [self._candidate(model, grant, confined) for model in ordered]

    def _rank(self, model: Model) -> tuple[int, int]:
        price = self.price(model)
        cost = DEAREST.nanos if price is None else cost_of(_TYPICAL, price).nanos
        busy = self.deployment(model).in_flight
        return (busy, cost) if self._balance == "least_busy" else (cost, busy)

    def _equals_of(self, name: str) -> tuple[Model, ...]:
        return (self.models[name], *(model for model in self.models.values() if model.same_as == name))

    def _reached(self, target: Model | RouteRule) -> list[Model]:
        return [model for name in _names(target) for model in self._equals[name]]

    def deployment(self, model: Model) -> Deployment:
        """Return how a model does at its provider."""
        return self._deployments.of(self.upstream(model), model.upstream_model)

    def _below(self, route: Route, wish: Wish, grant: Grant, confined: Confined) -> list[list[Candidate]]:
        """Return the models of each tier below the route's, nearest tier first; the wish's own come first in each."""
        chosen = self.models[route.model]
        allowed = grant.tiers if grant.falls_to is None else grant.falls_to
        below = [tier for tier in grant.tiers[: grant.tiers.index(chosen.tier)] if tier in allowed]
        named = [self.models[name] for name in dict.fromkeys((*_names(wish.target), *self.models))]
        return [
            [self._candidate(one, grant, confined) for one in named if (one.tier, one.kind) == (tier, chosen.kind)]
            for tier in reversed(below)
        ]

    def grants(self, model: str, grant: Grant) -> bool:
        """Say whether a grant permits the model of that name, if the policy still has it."""
        return model in self.models and grant.permits(model, self.models[model].tier)

    def meaning(self, wish: Wish) -> str:
        """Name a wish with what its models are to their providers: another policy may mean others by the same names."""
        return self._meanings[wish.target.name]

    def upstream(self, model: Model) -> Upstream:
        """Return the provider that serves `model`."""
        return self._upstreams[model.provider]

    def provider(self, name: str) -> Upstream | None:
        """Return the provider of that name; None when the policy has none."""
        return self._upstreams.get(name)

    def price(self, model: Model, service: Service = "standard") -> Price | None:
        """Return what `model` costs now, or None while a measured price has not been measured, or cannot be meant.

        A service is cheaper or dearer only where its provider has prices for it; None where it has no priority.
        """
        if not isinstance(model.price, Measured):
            return self._tariffs[model.name].at(self._clock(), service) if model.name in self._tariffs else None
        served = self.upstream(model).status.served.get(model.upstream_model)
        if served is None or served.prefill_per_s is None:
            return None
        # A model without a decode rate makes no output tokens.
        decode_per_s = served.decode_per_s or served.prefill_per_s
        price = measured_price(model.price.machine_usd_per_hour, served.prefill_per_s, decode_per_s)
        return price if price.dearest <= DEAREST else None

    def price_served(self, model: Model, service: Service, held: Price) -> Price:
        """Return what an answer costs as its provider served it: the price it was held at, unless another is known."""
        special = None if service == "standard" else self.price(model, service)
        return special or held

    def baseline_cost(self, usage: Usage) -> Nanodollars | None:
        """Return what `usage` would have cost on the baseline model; None without one, or without its price."""
        model = self.models.get(self._baseline or "")
        price = None if model is None else self.price(model)
        return None if price is None else cost_of(usage, price)

    def reachable(self, grant: Grant) -> list[tuple[str, tuple[str, ...]]]:
        """Return the names a caller may ask for, each with the providers behind it."""
        targets = {**self._routes, **self.models}
        return [
            (name, tuple(sorted({model.provider for model in allowed})))
            for name, target in targets.items()
            if (allowed := [one for one in self._reached(target) if self.grants(one.name, grant)])
        ]

    def serves_chat(self) -> bool:
        """Whether any chat model can be called now."""
        return any(model.kind == "chat" and not self._trouble(model) for model in self.models.values())

    def unavailable_models(self) -> dict[str, str]:
        """Return the models that cannot be called now, each with its reason."""
        troubles = ((name, self._trouble(model)) for name, model in self.models.items())
        return {name: trouble for name, trouble in troubles if trouble}

    def unavailable(self) -> dict[str, str]:
        """Return the providers that cannot be called now, each with its reason."""
        return {name: up.status.reason for name, up in self._upstreams.items() if not up.status.available}

    def availability(self) -> dict[str, bool]:
        """Return every provider, and whether it can be called now."""
        return {name: up.status.available for name, up in self._upstreams.items()}

    def _trouble(self, model: Model) -> str:
        """Say why a model cannot be called now, to go on from its name; empty when it can."""
        status = self.upstream(model).status
        if not status.available:
            return f"waits for provider {model.provider!r}"
        if self.price(model) is not None:
            return "is left alone for a while after failures" if self.deployment(model).breaker.resting else ""
        if not isinstance(model.price, Measured):
            return "has no price"
        served = status.served.get(model.upstream_model)
        return "is still loading" if served is None else served.unmeasured or "has no measured price yet"

    def _meaning(self, name: str, target: Model | RouteRule) -> str:
        models = [f"{model.provider}/{model.upstream_model}" for model in self._reached(target)]
        return "\n".join([name, *models])

    def _kinds(self, target: Model | RouteRule) -> set[Kind]:
        return {self.models[name].kind for name in _names(target)}

    def _candidate(self, model: Model, grant: Grant, confined: Confined) -> Candidate:
        upstream = self.upstream(model)
        return Candidate(
            name=model.name,
            allowed=grant.permits(model.name, model.tier),
            in_zone=confined.permits(upstream.zone),
            trouble=self._trouble(model),
        )


def _names(target: Model | RouteRule) -> tuple[str, ...]:
    return (target.name,) if isinstance(target, Model) else target.models
