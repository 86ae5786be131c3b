"""What budget steps do to a request, on the way from what they ask for to what is bought.

`downgrade` makes the model cheaper tier by tier (`catalogue.choose`). `tighten` halves the policy's ceiling on answers
and quarters its default (`UNBOUNDED_MAX_TOKENS` where it has none), to no less than `LEAST_TOKENS`; and an answer in
the cache will do however old it is, as long as the policy itself still lets it be served: the caller's `max-age` is
ignored, its `no-cache` is not. A request that names a length and has no ceiling over it keeps its length.

An answer that the need to save has changed is not kept for those who come when there is money again.
"""

from dataclasses import replace
from typing import Final

from gateway.steps.reuse.slot import Slot
from gateway.steps.shaping import UNBOUNDED_MAX_TOKENS
from governance.limits.steps import Pressure
from governance.policy.rules import OutputRule
from router_models.router import DOWNGRADED, Route

LEAST_TOKENS: Final = 16


def tightened(rule: OutputRule) -> OutputRule:
    """Return how long answers may be while money is short; never longer than `rule` lets them be."""
    default = rule.default or rule.ceiling or UNBOUNDED_MAX_TOKENS
    return replace(
        rule,
        default=min(default, max(LEAST_TOKENS, default // 4)),
        ceiling=None if rule.ceiling is None else min(rule.ceiling, max(LEAST_TOKENS, rule.ceiling // 2)),
    )


def noted(route: Route, pressure: Pressure) -> str:
    """Return the reason of a route with the strictest step that had a say in the answer."""
    if pressure.tighten:
        return f"{route.reason};budget:tighten"
    return f"{route.reason};budget:alert" if pressure.alert and route.reason != DOWNGRADED else route.reason


def lasting(slot: Slot, route: Route, pressure: Pressure) -> Slot:
    """Return the slot as far as an answer bought under this pressure may stay in it."""
    if route.reason == DOWNGRADED:
        slot = replace(slot, ttl=0, sought=None)
    return replace(slot, whole=pressure.tighten)
