"""What the new policy makes of one kind of request: who may answer it, at what price, and whether that is news.

Requests of one kind (caller, wish, and the policy they met) get one ruling, so a million requests need few of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from gateway.policy.models import AnthropicProvider
from gateway.policy.replay.terms import (
    allowed,
    exact_cache,
    growth,
    hourly,
    model_named,
    rates,
    scaled_price,
    terms,
    terms_of_target,
    zone_of,
)
from governance.attribution import Attribution
from governance.errors import UnknownTeam
from governance.ledger.events import EventKind
from governance.ledger.reading.traffic import MET
from governance.policy.rules import Grant, OutputRule
from governance.prices import Price
from router_models.config import RouteRule
from router_models.errors import NoRoute, NotAllowed, ZoneRefused
from router_models.router import Candidate, choose_route, pinned

if TYPE_CHECKING:
    from gateway.policy.models import ModelSection
    from gateway.policy.replay.lanes import Board, Lanes
    from gateway.policy.source import LoadedPolicy
    from governance.ledger.reading.traffic import Past

NO_APP: Final = "no_such_app"
NO_MODEL: Final = "model_not_found"
CACHE: Final = "cache"
_PINNED: Final = "pinned"
_REFUSED: Final = EventKind.REFUSED.value
_NOTHING: Final = Grant((), None, OutputRule(), (), ())


class Kind(NamedTuple):
    """Everything about a recorded request that a ruling depends on; `refused` ones name what was asked for."""

    version: str
    team: str
    app: str
    feature: str
    key_id: str
    model: str
    provider: str
    route: str
    refused: bool


@dataclass(frozen=True, slots=True)
class Ruling:
    """What becomes of one kind of request.

    Attributes:
        same: The very rules, route, models and prices that it met in the past; nothing is decided anew by itself.
        code: Why it is refused before any money is held; empty when it is not.
        model: Who answers it.
        zone_changed: Its model runs in another zone than the one that answered.
        cached: Whether an answer from the cache is still given.
        price: What it is billed at; None when as in the past.
        known: Whether its price is known; if not, it counts as in the past.
        hold: By which ratio its hold grows, as numerator and denominator.
        ceiling: The longest its answer may be, where that is news; else None.
        lanes: The counters that it draws on.
    """

    same: bool
    code: str
    model: str
    zone_changed: bool
    cached: bool
    price: Price | None
    known: bool
    hold: tuple[int, int]
    ceiling: int | None
    lanes: Lanes


class Rulings:
    """The rulings of one policy; `recorded` is the last price each model was billed at.

    Args:
        new: The policy that is tried.
        known: Policies by version, for as many as are at hand of those that the traffic met.
        recorded: The last price each model was billed at.
        board: The counters.
    """

    def __init__(
        self, new: LoadedPolicy, known: Mapping[str, LoadedPolicy], recorded: Mapping[str, Price], board: Board
    ) -> None:
        self._new = new
        self._known = {**known, new.version: new}
        self.recorded = recorded
        self._board = board
        self._rulings: dict[object, Ruling] = {}

    def of(self, row: Past) -> Ruling:
        """Return the ruling for a request of the past."""
        met = row[MET]
        name = (met, row[1] == _REFUSED)
        found = self._rulings.get(name)
        if found is None:
            found = self._rulings[name] = self._rule(Kind(*met, refused=row[1] == _REFUSED))
        return found

    def _rule(self, kind: Kind) -> Ruling:
        new, old = self._new, self._known.get(kind.version)
        grant, before = _grant(new, kind), None if old is None else _grant(old, kind)
        # Where the app is gone, what it drew on in the past is what others now find otherwise.
        lanes = self._board.lanes(grant or before or _NOTHING)
        if grant is None:
            return _nobodys(lanes, same=before is None and old is not None)
        reference, met = (new, grant) if old is None or before is None else (old, before)
        wish = _wish(reference, met, kind)
        target, was = _target(new, grant, wish), None if old is None else _target(old, met, wish)
        same = before == grant and terms_of_target(old, was) == terms_of_target(new, target)
        code, model = _choose(new, grant, target, *_past(reference, met, kind, wish))
        origin = model if kind.refused else kind.model
        price, known = self._price(old, origin, model)
        if kind.provider == CACHE:  # it cost nothing, so there is no price of the past to keep
            price = price or self.recorded.get(model)
        return Ruling(
            same=same
            and old is not None
            and old.rules.timezone == new.rules.timezone
            and exact_cache(old) == exact_cache(new),
            code=code,
            model=model,
            zone_changed=bool(model) and zone_of(new, model) != zone_of(reference, origin),
            cached=new.document.cache.exact is not None and allowed(new, grant, kind.model),
            price=price,
            known=known,
            hold=growth(self.recorded.get(origin), price),
            ceiling=None if before is not None and before.output == grant.output else grant.output.ceiling,
            lanes=lanes,
        )

    def _price(self, old: LoadedPolicy | None, origin: str, model: str) -> tuple[Price | None, bool]:
        """Return what a model is billed at, None when as `origin` was; and whether that is known."""
        new, past = self._new, self.recorded.get(model)
        if not model:
            return None, True
        if model == origin and old is not None and terms(old, model) == terms(new, model):
            return None, True
        stated = new.prices.get(model)
        if stated is not None:
            return (None if model == origin and rates(stated) == rates(past) else stated), True
        if past is None:
            return None, False
        machine, was = hourly(new, model), None if old is None else hourly(old, model)
        if machine is None or was is None or machine == was:
            return (None if model == origin else past), True
        return scaled_price(past, machine.nanos, was.nanos), True


def _nobodys(lanes: Lanes, *, same: bool) -> Ruling:
    """Return the ruling about an app that the policy does not have."""
    return Ruling(
        same=same,
        code=NO_APP,
        model="",
        zone_changed=False,
        cached=False,
        price=None,
        known=True,
        hold=(1, 1),
        ceiling=None,
        lanes=lanes,
    )


def _grant(policy: LoadedPolicy, kind: Kind) -> Grant | None:
    try:
        return policy.rules.grant(Attribution(kind.team, kind.app, kind.feature), kind.key_id)
    except UnknownTeam:
        return None


def _wish(policy: LoadedPolicy, grant: Grant, kind: Kind) -> str:
    """Return what a request asked for: the ledger keeps the model that answered, and why, but not the route's name."""
    if kind.route == _PINNED or kind.refused:
        return kind.model
    routes = policy.document.routes
    fitting = [route.name for route in routes if _explains(route, kind)]
    return grant.route if grant.route in fitting else next(iter(fitting), kind.model)


def _explains(route: RouteRule, kind: Kind) -> bool:
    """Say whether a request for a route may have been answered by the model, for the reason, that were recorded."""
    if kind.model not in route.models:
        return False
    reason, _, about = kind.route.partition(":")
    return {
        "weak": route.weak == kind.model,
        "tier": route.weak == about,
        "unavailable": route.weak == about,
        "zone": route.weak != kind.model,
    }.get(reason, True)


def _target(policy: LoadedPolicy, grant: Grant, wish: str) -> ModelSection | RouteRule | None:
    routes = {route.name: route for route in policy.document.routes}
    return routes.get(grant.route or wish) if wish in routes else model_named(policy, wish)


def _past(policy: LoadedPolicy, grant: Grant, kind: Kind, wish: str) -> tuple[str | None, frozenset[str]]:
    """Return the zone that a request was confined to, and the models that cannot have been available to it."""
    reason, _, about = kind.route.partition(":")
    zone = about if reason == "zone" else None
    target = _target(policy, grant, wish)
    if kind.refused or kind.route == CACHE or not isinstance(target, RouteRule) or kind.model not in target.models:
        return zone, frozenset()
    before = target.models[: target.models.index(kind.model)]
    return zone, frozenset(
        name for name in before if allowed(policy, grant, name) and zone in (None, zone_of(policy, name))
    )


def _choose(
    policy: LoadedPolicy,
    grant: Grant,
    target: ModelSection | RouteRule | None,
    zone: str | None,
    down: frozenset[str],
) -> tuple[str, str]:
    """Return why nobody answers, or who does."""
    if target is None:
        return NO_MODEL, ""
    names = target.models if isinstance(target, RouteRule) else (target.name,)
    candidates = {
        name: Candidate(
            name, allowed(policy, grant, name), zone in (None, zone_of(policy, name)), _trouble(policy, name, down)
        )
        for name in names
    }
    try:
        if isinstance(target, RouteRule):
            return "", choose_route(target, candidates, zone).model
        return "", pinned(candidates[target.name], zone).model
    except NotAllowed:
        return "model_not_allowed", ""
    except ZoneRefused:
        return "zone_refused", ""
    except NoRoute:
        return "overloaded", ""


def _trouble(policy: LoadedPolicy, name: str, down: frozenset[str]) -> str:
    """Say why a model could not be called; keys that are not set here are none, for this is not the gateway."""
    model = model_named(policy, name)
    if name in down:
        return "was not available"
    if name in policy.unpriced:
        return "has no price"
    spoken = model is not None and not isinstance(policy.document.providers[model.provider], AnthropicProvider)
    return "" if spoken else "is not spoken to"
