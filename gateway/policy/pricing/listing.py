"""What each model of a policy costs at an instant, laid out for people and programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from governance.prices.tariff import Span

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from gateway.policy.models import ModelSection
    from gateway.policy.source import LoadedPolicy
    from governance.prices import Price, Service

_SERVICES: Final[tuple[Service, ...]] = ("batch", "flex", "priority")


@dataclass(frozen=True, slots=True)
class Quote:
    """What one model costs.

    Attributes:
        name: What the policy calls it.
        provider: Who runs it.
        model: What its provider calls it.
        price: Its standard price; None when there is none, or only a measured one.
        services: The prices of services that cost otherwise than the standard.
        span: Since when it has these prices, and until when.
        why: Why there is no price here; empty when there is one.
    """

    name: str
    provider: str
    model: str
    price: Price | None
    services: Mapping[Service, Price]
    span: Span
    why: str

    def facts(self) -> dict[str, Any]:
        """Return the quote for programs: USD per million tokens, `tool_run` per thousand calls."""
        return {
            "name": self.name,
            "provider": self.provider,
            "model": self.model,
            "price": None if self.price is None else _facts(self.price),
            "services": {service: _facts(price) for service, price in self.services.items()},
            "since": None if self.span.since is None else self.span.since.isoformat(),
            "until": None if self.span.until is None else self.span.until.isoformat(),
            "why": self.why,
        }


def quotes(policy: LoadedPolicy, at: datetime) -> tuple[Quote, ...]:
    """Return what every model of a policy costs at an instant, in the policy's order."""
    return tuple(_quote(policy, section, at) for section in policy.document.models)


def _quote(policy: LoadedPolicy, section: ModelSection, at: datetime) -> Quote:
    tariff = policy.tariffs.get(section.name)
    price = None if tariff is None else tariff.at(at)
    services: dict[Service, Price] = {}
    for service in _SERVICES:
        other = None if tariff is None else tariff.at(at, service)
        if other is not None and other != price:
            services[service] = other
    why = ""
    if tariff is None and section.price == "measured":
        hourly = policy.document.providers[section.provider].machine_usd_per_hour
        why = "measured by the gateway" + ("" if hourly is None else f" @{hourly} USD/h")
    elif price is None:
        why = policy.unpriced.get(section.name, "it has no price")
    return Quote(
        name=section.name,
        provider=section.provider,
        model=section.model,
        price=price,
        services=services,
        span=Span() if tariff is None else tariff.span(at),
        why=why,
    )


def _facts(price: Price) -> dict[str, Any]:
    tiers = [{"above": tier.above, "rates": _rates(tier)} for tier in price.tiers]
    return {"source": price.source, "rates": _rates(price), "tiers": tiers}


def _rates(price: Price) -> dict[str, str]:
    return {name: rate.usd for name, rate in price.rates.items() if rate is not None}
