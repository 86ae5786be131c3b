"""Are the prices of a policy right? What has none, what the price book has for free or otherwise, and an old book."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from gateway.policy.pricing.tariffs import listed
from governance.prices.book import list_tariff, newest_entry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date, datetime

    from gateway.policy.models import ModelSection
    from gateway.policy.pricing.tariffs import PriceBook
    from gateway.policy.source import LoadedPolicy
    from governance.money import Nanodollars
    from governance.prices import Price

OLD_DAYS: Final = 90
MARGIN: Final = 10
"""How many per cent a price of the policy may differ from the price book's."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something about the price of a model, or of no one model, that should be looked at."""

    model: str
    told: str

    def __str__(self) -> str:
        """Return it as one line."""
        return f"{self.model}: {self.told}" if self.model else self.told


@dataclass(frozen=True, slots=True)
class PriceReport:
    """The doubts about the prices of one policy; `book` is the date of the newest price in the price book."""

    source: str
    book: date
    doubts: tuple[Doubt, ...]

    def lines(self) -> list[str]:
        """Return the report for people, one doubt a line, the verdict last."""
        number = len(self.doubts)
        verdict = "prices are in order" if not number else f"{number} {'price' if number == 1 else 'prices'} in doubt"
        return [*map(str, self.doubts), f"{self.source}: {verdict}; the price book is of {self.book}"]

    def facts(self) -> dict[str, Any]:
        """Return the report for programs."""
        doubts = [{"model": doubt.model, "told": doubt.told} for doubt in self.doubts]
        return {"ok": not doubts, "source": self.source, "book": self.book.isoformat(), "doubts": doubts}


def check_prices(
    policy: LoadedPolicy, at: datetime, margin: int = MARGIN, price_book: PriceBook = list_tariff
) -> PriceReport:
    """Find what is in doubt about the prices of a policy at an instant; prices may differ by `margin` per cent."""
    book = newest_entry(at)
    return PriceReport(policy.source, book, tuple(_doubts(policy, at, margin, price_book, book)))


def _doubts(policy: LoadedPolicy, at: datetime, margin: int, price_book: PriceBook, book: date) -> Iterator[Doubt]:
    for section in policy.document.models:
        name = section.name
        if name in policy.unpriced:
            yield Doubt(name, f"{policy.unpriced[name]}: the model is unavailable")
        elif name in policy.flagged:
            yield Doubt(name, f"has no price: it is flagged, and counted as {policy.flagged[name]}")
        elif section.price == "list" and not policy.prices[name].dearest.nanos:
            yield Doubt(name, "costs nothing by the price book")
        elif section.stated_prices:
            yield from _differences(policy, section, at, margin, price_book)
    age = (at.date() - book).days
    if age > OLD_DAYS and any(section.price == "list" for section in policy.document.models):
        yield Doubt("", f"the price book has no price younger than {age} days: install a newer genai-prices")


def _differences(
    policy: LoadedPolicy, section: ModelSection, at: datetime, margin: int, price_book: PriceBook
) -> Iterator[Doubt]:
    """Compare what the policy states with the price book, for short prompts and those of each tier of either."""
    tariff = listed(policy.document, section, price_book)
    theirs, ours = None if tariff is None else tariff.at(at), policy.tariffs[section.name].at(at)
    if theirs is None or ours is None:
        return
    told: set[str] = set()
    for size in sorted({0, *(tier.above for price in (theirs, ours) for tier in price.tiers)}):
        where = f" above {size} tokens" if size else ""
        for name, rate, other in _both(ours.for_prompt(size + 1), theirs.for_prompt(size + 1)):
            if abs(rate.nanos - other.nanos) * 100 > margin * other.nanos and name not in told:
                told.add(name)
                yield Doubt(section.name, f"{name}{where} is {rate} USD, and {other} in the price book")


def _both(ours: Price, theirs: Price) -> Iterator[tuple[str, Nanodollars, Nanodollars]]:
    """Return the rates that both have."""
    for name, rate in ours.rates.items():
        other = theirs.rates[name]
        if rate is not None and other is not None:
            yield name, rate, other
