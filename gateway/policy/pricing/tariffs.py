"""The tariff of every model of a policy: its own prices, the price book's at the terms of a contract, or a stand-in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from gateway.policy.models import PriceAs
from gateway.policy.pricing.sections import Terms
from governance.prices import Tariff
from governance.prices.price import UNKNOWN
from governance.prices.tariff import Dated, Overlaid, StandIn, Stated

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from gateway.policy.document import Policy
    from gateway.policy.models import ModelSection
    from governance.prices import Price

PriceBook = Callable[[str, str], Tariff | None]
"""From a seller and its name of a model to what it costs, or None when the book does not know it."""


@dataclass(frozen=True, slots=True)
class Tariffs:
    """What the models of a policy cost.

    Attributes:
        of: The tariff of each model that has one, stand-ins included; `measured` ones are not here.
        unpriced: Models that have no price at that instant and may therefore not be used, and why.
        flagged: Models without a price that are served at that of another all the same, and which.
    """

    of: Mapping[str, Tariff]
    unpriced: Mapping[str, str]
    flagged: Mapping[str, str]

    def prices(self, at: datetime) -> dict[str, Price]:
        """Return the standard prices at an instant."""
        found = ((name, tariff.at(at)) for name, tariff in self.of.items())
        return {name: price for name, price in found if price is not None}


def tariffs_of(document: Policy, at: datetime, price_book: PriceBook) -> Tariffs:
    """Find what every model costs; `at` decides which have a price yet."""
    tariffs: dict[str, Tariff] = {}
    unpriced: dict[str, str] = {}
    for model in document.models:
        tariff = _tariff(document, model, price_book)
        if tariff is not None and tariff.at(at) is None and tariff.span(at).until is None:
            tariff = None
        if tariff is not None:
            tariffs[model.name] = tariff
            if tariff.at(at) is None:
                unpriced[model.name] = f"it has no price before {tariff.span(at).until:%Y-%m-%d}"
        elif model.price != "measured":
            unpriced[model.name] = f'the price book has no price for "{model.model}" of "{model.provider}"'
    return _stood_in(document, Tariffs(tariffs, unpriced, {}), at)


def listed(document: Policy, model: ModelSection, price_book: PriceBook) -> Tariff | None:
    """Return what the price book says of a model, before any contract."""
    seller = document.providers[model.provider].price_book
    return None if seller is None else price_book(seller, model.model)


def _tariff(document: Policy, model: ModelSection, price_book: PriceBook) -> Tariff | None:
    if model.price == "measured":
        return None
    provider = document.providers[model.provider]
    terms = provider if isinstance(provider, Terms) else None
    batch = model.batch_factor if model.batch_factor is not None or terms is None else terms.batch_factor
    if model.price != "list":
        return _overlaid(Stated(tuple(Dated(one.begins, one.price) for one in model.stated_prices)), None, batch)
    found = listed(document, model, price_book)
    factor = model.factor if model.factor is not None or terms is None else terms.factor
    return None if found is None else _overlaid(found, factor, batch)


def _overlaid(tariff: Tariff, factor: Fraction | None, batch: Fraction | None) -> Tariff:
    return tariff if factor is None and batch is None else Overlaid(tariff, factor or Fraction(1), batch)


def _stood_in(document: Policy, found: Tariffs, at: datetime) -> Tariffs:
    """Give models without a tariff the one that the policy has for unknown models."""
    unknown = [name for name in found.unpriced if name not in found.of]
    prices, rule = found.prices(at), document.unknown_model
    if isinstance(rule, PriceAs):
        name, tariff = rule.price_as, found.of.get(rule.price_as)
    elif rule == "flag" and prices:
        name = max(prices, key=lambda model: prices[model].dearest)
        tariff = StandIn(found.of[name], f"{UNKNOWN} (as {name})")
    else:
        return found
    if tariff is None:
        return found
    return Tariffs(
        {**found.of, **dict.fromkeys(unknown, tariff)},
        {model: why for model, why in found.unpriced.items() if model not in unknown},
        {} if isinstance(rule, PriceAs) else dict.fromkeys(unknown, name),
    )
