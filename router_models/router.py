"""The choice of a model: the first of a route's models that is allowed, inside the zone and available.

The weak model answers whenever it can, then the strong one, then the fallbacks in the order of the policy; where a
trained router is of the opinion that the prompt needs the strong model (`deciding.py`), that one comes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from router_models.errors import NotAllowed, NothingAvailable, ZoneRefused, ZoneUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from router_models.config import RouteRule
    from router_models.deciding import Opinion


@dataclass(frozen=True, slots=True)
class Candidate:
    """What is known of one model at the moment of choosing.

    Attributes:
        name: The policy's name of the model.
        allowed: Its tier is among those of the caller.
        in_zone: Its provider is inside the zone that the request may not leave; True when there is no such zone.
        trouble: Why it cannot be called now, after its name ("is still loading"); empty when it can.
    """

    name: str
    allowed: bool
    in_zone: bool
    trouble: str = ""

    @property
    def usable(self) -> bool:
        """Whether it may answer and can."""
        return self.allowed and self.in_zone and not self.trouble


@dataclass(frozen=True, slots=True)
class Route:
    """The model that will answer, and why.

    Attributes:
        model: The policy's name of the model.
        reason: Short text for `x-sluice-route`: `weak`, `pinned`, a router's opinion, what kept the wanted model away
            (`tier:<model>`, `zone:<zone>`, `unavailable:<model>`), `budget:downgrade`, or `fallback:<n>` for the n-th
            that answers for a model that failed.
        name: The route's name; a pinned model's own name.
    """

    model: str
    reason: str
    name: str


def choose_route(
    rule: RouteRule, candidates: Mapping[str, Candidate], zone: str | None = None, opinion: Opinion | None = None
) -> Route:
    """Choose the model that answers a request made to a route.

    Args:
        rule: The route.
        candidates: Every model that the rule names, by name.
        zone: The zone that the request may not leave, for the reason; `Candidate.in_zone` is what decides.
        opinion: Which of its two models the prompt needs; None where nobody says.

    Raises:
        NoRoute: One of its four kinds, when no model passes.
    """
    wanted = rule.strong if opinion is not None and opinion.strong else rule.weak
    ordered = [candidates[model] for model in dict.fromkeys((wanted, *rule.models))]
    chosen = _first_usable(ordered, rule.name, zone)
    if chosen.name != wanted:
        reason = _kept_away(candidates[wanted], zone)
    else:
        reason = "weak" if opinion is None else opinion.reason
    return Route(chosen.name, reason, rule.name)


def pinned(candidate: Candidate, zone: str | None = None) -> Route:
    """Route a request that names a model to that model and no other.

    Raises:
        NoRoute: One of its four kinds, when the model may not or cannot answer.
    """
    return Route(_first_usable((candidate,), candidate.name, zone).name, "pinned", candidate.name)


DOWNGRADED = "budget:downgrade"


def cheaper(route: Route, tiers: Sequence[Sequence[Candidate]], steps: int) -> Route:
    """Move a route down to a cheaper tier, as far as there is one.

    Args:
        route: The choice without the need to save.
        tiers: The models of each cheaper tier, the dearest tier first, and in each the preferred model first.
        steps: How many tiers to go down; tiers without a usable model do not count.

    Returns:
        The route over the cheaper model, or the same one where no cheaper tier has a usable model.
    """
    usable = [model for tier in tiers if (model := next((c for c in tier if c.usable), None)) is not None]
    if not usable or steps < 1:
        return route
    return Route(usable[min(steps, len(usable)) - 1].name, DOWNGRADED, route.name)


def _first_usable(ordered: Sequence[Candidate], route: str, zone: str | None) -> Candidate:
    models = tuple(candidate.name for candidate in ordered)
    allowed = [candidate for candidate in ordered if candidate.allowed]
    if not allowed:
        raise NotAllowed(route=route, models=models)
    inside = [candidate for candidate in allowed if candidate.in_zone]
    if not inside:
        raise ZoneRefused(route=route, models=models, zone=zone or "")
    for candidate in inside:
        if not candidate.trouble:
            return candidate
    why = "; ".join(f'"{candidate.name}" {candidate.trouble}' for candidate in inside)
    if zone is not None:
        raise ZoneUnavailable(route=route, models=models, zone=zone, why=why)
    raise NothingAvailable(route=route, models=models, why=why)


def _kept_away(wanted: Candidate, zone: str | None) -> str:
    if not wanted.allowed:
        return f"tier:{wanted.name}"
    if not wanted.in_zone:
        return f"zone:{zone}"
    return f"unavailable:{wanted.name}"
