"""Tariffs: which price of a model holds when, and for which service of its provider."""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from math import inf
from typing import Final, Literal, NamedTuple, Protocol

from governance.prices.price import Price, scaled

Service = Literal["standard", "batch", "flex", "priority"]
"""How a provider is asked to work. Batch and flex are cheaper and may be late, priority is dearer."""


class Span(NamedTuple):
    """A time in which a price does not change: `since <= instant < until`; None is for ever."""

    since: datetime | None = None
    until: datetime | None = None


class Tariff(Protocol):
    """What a model costs."""

    def at(self, instant: datetime, service: Service = "standard") -> Price | None:
        """Return the price at an instant (aware); None where there is none.

        Batch and flex that have no price of their own cost the standard one, which is never less. Priority has none
        then.
        """
        ...

    def span(self, instant: datetime) -> Span:
        """Return a time around an instant in which `at` says the same for every service."""
        ...


class Dated(NamedTuple):
    """A price and from when it holds; None is from ever."""

    since: datetime | None
    price: Price


@dataclass(frozen=True, slots=True)
class Stated:
    """Prices that were written down, in the order of their dates."""

    entries: tuple[Dated, ...]

    def at(self, instant: datetime, service: Service = "standard") -> Price | None:
        """Return the price of the last date that has come."""
        place = self._place(instant)
        return None if not place or service == "priority" else self.entries[place - 1].price

    def span(self, instant: datetime) -> Span:
        """Return the time between the dates around an instant."""
        place = self._place(instant)
        until = self.entries[place].since if place < len(self.entries) else None
        return Span(self.entries[place - 1].since if place else None, until)

    def _place(self, instant: datetime) -> int:
        """Count the entries that hold by now, or did."""
        return bisect_right([entry.since or _EVER for entry in self.entries], instant)


@dataclass(frozen=True, slots=True)
class Overlaid:
    """A tariff at the terms of a contract.

    Attributes:
        tariff: What it costs without the contract.
        factor: What each rate is multiplied by.
        batch: What the standard rates for tokens are multiplied by as well in a batch; None leaves it to the tariff.
    """

    tariff: Tariff
    factor: Fraction = Fraction(1)
    batch: Fraction | None = None

    def at(self, instant: datetime, service: Service = "standard") -> Price | None:
        """Return the price at the terms of the contract."""
        agreed = service == "batch" and self.batch is not None
        price = self.tariff.at(instant, "standard" if agreed else service)
        if price is not None and self.factor != 1:
            price = scaled(price, self.factor, f"{price.source} x{float(self.factor):g}")
        if price is not None and agreed and self.batch is not None:
            # A batch has its discount on tokens; what providers take for running a tool stays.
            price = scaled(price, self.batch, f"{price.source} batch x{float(self.batch):g}", fees=False)
        return price

    def span(self, instant: datetime) -> Span:
        """Return the tariff's own."""
        return self.tariff.span(instant)


@dataclass(frozen=True, slots=True)
class StandIn:
    """A tariff of another model, for one that has none; its prices say so in their source."""

    tariff: Tariff
    source: str

    def at(self, instant: datetime, service: Service = "standard") -> Price | None:
        """Return the other model's price."""
        price = self.tariff.at(instant, service)
        return None if price is None else scaled(price, Fraction(1), self.source)

    def span(self, instant: datetime) -> Span:
        """Return the tariff's own."""
        return self.tariff.span(instant)


class Current:
    """A tariff that is asked with every request: it is looked up again only when a price may have changed."""

    def __init__(self, tariff: Tariff) -> None:
        self._tariff = tariff
        self._since, self._until = inf, -inf
        self._prices: dict[Service, Price | None] = {}

    def at(self, seconds: float, service: Service = "standard") -> Price | None:
        """Return the price at an instant, in seconds since the epoch."""
        if not self._since <= seconds < self._until:
            since, until = self._tariff.span(datetime.fromtimestamp(seconds, UTC))
            self._since = -inf if since is None else since.timestamp()
            self._until = inf if until is None else until.timestamp()
            self._prices = {}
        if service not in self._prices:
            self._prices[service] = self._tariff.at(datetime.fromtimestamp(seconds, UTC), service)
        return self._prices[service]


def always(price: Price) -> Tariff:
    """Return the tariff of one price that never changes."""
    return Stated((Dated(None, price),))


_EVER: Final = datetime.min.replace(tzinfo=UTC)
