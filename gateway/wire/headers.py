"""What a reply says about itself: the contract's response headers."""

from dataclasses import dataclass
from datetime import datetime

from governance.ledger.events import Opening, Settlement
from governance.limits import RateStanding, Standing
from governance.money import Nanodollars

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of an answer. A stream's headers go out before its cost is known: `cost` and `saved` are None.

    Attributes:
        model: the policy's name of the model that answered.
        route: the short reason for that model.
        cache: `miss`, `exact` or `bypass`.
        tightest: the budget with the least left, or None when no budget applies.
        overhead_s: what the gateway itself has added so far.
        attempts: upstream calls made.
        policy: version of the policy in force.
    """

    request_id: str
    at: datetime
    model: str
    provider: str
    route: str
    cache: str
    cost: Nanodollars | None
    saved: Nanodollars | None
    tightest: Standing | None
    rates: tuple[RateStanding, ...]
    overhead_s: float
    attempts: int
    policy: str


def facts_of(
    opening: Opening,
    settlement: Settlement | None,
    tightest: Standing | None,
    rates: tuple[RateStanding, ...],
    overhead_s: float,
) -> Facts:
    """Return what to say of a request: before its settlement (None) as planned, after it with the money."""
    return Facts(
        request_id=opening.request_id,
        at=opening.at,
        model=opening.model,
        provider=opening.provider,
        route=opening.route,
        cache=opening.cache,
        cost=None if settlement is None else settlement.cost,
        saved=None if settlement is None else settlement.saved,
        tightest=tightest,
        rates=rates,
        overhead_s=overhead_s,
        attempts=1 if settlement is None else len(settlement.attempts),
        policy=opening.policy_version,
    )


def render(facts: Facts) -> Headers:
    """Return the headers; text from a policy is made safe for a header line."""
    headers = [
        _header("x-request-id", facts.request_id),
        _header("x-sluice-model", facts.model),
        _header("x-sluice-provider", facts.provider),
        _header("x-sluice-route", facts.route),
        _header("x-sluice-cache", facts.cache),
        _header("x-sluice-overhead-ms", f"{facts.overhead_s * 1000:.2f}"),
        _header("x-sluice-attempts", str(facts.attempts)),
        _header("x-sluice-policy", facts.policy),
    ]
    if facts.cost is not None and facts.saved is not None:
        headers.append(_header("x-sluice-cost-usd", facts.cost.usd))
        headers.append(_header("x-sluice-saved-usd", facts.saved.usd))
    if facts.tightest is not None:
        headers.append(_header("x-sluice-budget", _budget(facts.tightest)))
    return headers + _rates(facts.rates, facts.at)


def _budget(standing: Standing) -> str:
    resets = standing.resets_at.isoformat().replace("+00:00", "Z")
    return f"scope={standing.scope};remaining_usd={standing.remaining.usd};resets={resets}"


def _rates(rates: tuple[RateStanding, ...], at: datetime) -> Headers:
    return [
        line
        for rate in rates
        for line in (
            _header(f"x-ratelimit-limit-{rate.unit}", str(rate.limit)),
            _header(f"x-ratelimit-remaining-{rate.unit}", str(rate.remaining)),
            _header(f"x-ratelimit-reset-{rate.unit}", f"{max(0.0, (rate.resets_at - at).total_seconds()):.3f}s"),
        )
    ]


def _header(name: str, value: str) -> tuple[bytes, bytes]:
    safe = value if value.isprintable() else "".join(c for c in value if c.isprintable())
    return name.encode(), safe.encode("latin-1", "replace")
