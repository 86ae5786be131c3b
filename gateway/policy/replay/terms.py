"""The terms on which a policy offers its models: whose they are, who may use them, and what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance.money import Nanodollars
from governance.prices import Price
from router_models.config import RouteRule

if TYPE_CHECKING:
    from cache.config import ExactSection, SemanticSection
    from gateway.policy.models import ModelSection
    from gateway.policy.source import LoadedPolicy


def terms_of_target(policy: LoadedPolicy | None, target: ModelSection | RouteRule | None) -> object:
    """Return all that decides how a wish is answered, and at what price."""
    if policy is None or target is None:
        return None
    names = target.models if isinstance(target, RouteRule) else (target.name,)
    return target, [terms(policy, name) for name in names]


def terms(policy: LoadedPolicy, name: str) -> object:
    """Return all that a policy says of a model, to be compared."""
    model = model_named(policy, name)
    if model is None:
        return None
    return model, policy.prices.get(name), hourly(policy, name), zone_of(policy, name), name in policy.unpriced


def model_named(policy: LoadedPolicy, name: str) -> ModelSection | None:
    """Return the model of a name, if the policy has it."""
    return next((model for model in policy.document.models if model.name == name), None)


def zone_of(policy: LoadedPolicy, name: str) -> str:
    """Name the zone of a model's provider; empty when there is no such model."""
    model = model_named(policy, name)
    return "" if model is None else policy.document.providers[model.provider].zone


def hourly(policy: LoadedPolicy, name: str) -> Nanodollars | None:
    """Return what the machine of a measured model costs; None for other models."""
    model = model_named(policy, name)
    measured = model is not None and model.price == "measured"
    return policy.document.providers[model.provider].machine_usd_per_hour if model is not None and measured else None


def exact_cache(policy: LoadedPolicy) -> ExactSection | None:
    """Return how answers to the very same request are served again, to be compared."""
    return policy.document.cache.exact


def semantic_cache(policy: LoadedPolicy) -> SemanticSection | None:
    """Return how answers to requests that mean the same are served again, to be compared."""
    return policy.document.cache.semantic


def rates(price: Price | None) -> object:
    """Return the rates of a price, to be compared, wherever they come from."""
    return None if price is None else [(each.above, each.rates) for each in (price, *price.tiers)]


def growth(old: Price | None, new: Price | None) -> tuple[int, int]:
    """Return the most by which a worst case can grow from one price to another: that of its dearer side."""
    if old is None or new is None:
        return 1, 1
    # A price of the past is that of one prompt; the dearest tier is within reach of a longer one.
    dearest = [max(getattr(each, side).nanos for each in (new, *new.tiers)) for side in ("input", "output")]
    sides = zip(dearest, (old.input.nanos, old.output.nanos), strict=True)
    grown = [(numerator, denominator) for numerator, denominator in sides if denominator]
    return max(grown, key=lambda side: side[0] / side[1], default=(1, 1))
