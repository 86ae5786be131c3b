"""What a reply says about itself: the contract's response headers."""

from dataclasses import dataclass
from datetime import datetime

from governance.ledger.events import Opening, Settlement
from governance.limits import RateStanding, Standing

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of an answer.

    Attributes:
        opening: the request as it was planned.
        settlement: how it ended; None while it runs, which is when a stream's headers go out.
        tightest: the budget with the least left, or None when no budget applies.
        rates: the tightest per-minute limit of each unit.
        overhead_s: what the gateway itself has added so far.
        attempts: how many calls have been made for it, the one that runs included.
        age_s: how long ago an answer was bought that is given again; None for one that is new.
        guardrails: the rules that found something so far, each as `name=action`.
    """

    opening: Opening
    settlement: Settlement | None
    tightest: Standing | None
    rates: tuple[RateStanding, ...]
    overhead_s: float
    attempts: int = 1
    age_s: float | None = None
    guardrails: tuple[str, ...] = ()

    @property
    def money(self) -> dict[str, str]:
        """What the answer cost and spared, for the usage at the end of a stream; empty while it runs."""
        ended = self.settlement
        return {} if ended is None else {"cost_usd": ended.cost.usd, "saved_usd": ended.saved.usd}


def render(facts: Facts) -> Headers:
    """Return the headers; text from a policy is made safe for a header line."""
    opening, settlement = facts.opening, facts.settlement
    headers = [
        _header("x-request-id", opening.request_id),
        _header("request-id", opening.request_id),  # where Anthropic's SDKs look for it
        _header("x-sluice-model", opening.model),
        _header("x-sluice-provider", opening.provider),
        _header("x-sluice-route", opening.route),
        _header("x-sluice-cache", opening.cache),
        _header("x-sluice-overhead-ms", f"{facts.overhead_s * 1000:.2f}"),
        _header("x-sluice-attempts", str(facts.attempts if settlement is None else len(settlement.attempts))),
        _header("x-sluice-policy", opening.policy_version),
    ]
    if settlement is not None:
        headers.append(_header("x-sluice-cost-usd", settlement.cost.usd))
        headers.append(_header("x-sluice-saved-usd", settlement.saved.usd))
    if opening.context:
        headers.append(_header("x-sluice-context", opening.context))
    if facts.age_s is not None:
        headers.append(_header("age", str(max(0, int(facts.age_s)))))  # RFC 9111, 5.1
    if facts.guardrails:
        headers.append(_header("x-sluice-guardrails", ", ".join(facts.guardrails)))
    if facts.tightest is not None:
        headers.append(_header("x-sluice-budget", _budget(facts.tightest)))
    return headers + _rates(facts.rates, opening.at)


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
