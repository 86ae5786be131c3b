"""The public price book that is installed with this program: `genai-prices`. Nothing is fetched."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from governance.money import NANOS_PER_DOLLAR, ZERO, Nanodollars
from governance.prices.price import Price
from governance.prices.tariff import Service, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import ModelInfo, ModelPrice

_NAMES: Final = {
    "input": "input_mtok",
    "cached_input": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
    "audio_input": "input_audio_mtok",
    "cached_audio": "cache_audio_read_mtok",
    "image_input": "input_image_mtok",
    "output": "output_mtok",
    "reasoning": "output_reasoning_mtok",
    "audio_output": "output_audio_mtok",
    "tool_run": "web_searches_kcount",
}
"""The book's name of each rate."""

_UNCOUNTED: Final = ("output_image_mtok", "output_video_mtok")
"""What is made at a rate of its own and is counted nowhere here: a model that makes it has no price."""

_SEARCHES: Final = re.compile("search-(preview|api)")
"""Models that search with every answer, at a fee that neither the book nor the usage tells."""

_CONTEXTS: Final[dict[Service, dict[str, str]]] = {
    "standard": {},
    "batch": {"processing": "batch"},
    "flex": {"service_tier": "flex"},
    "priority": {"service_tier": "priority"},
}
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Listed:
    """What the book says of one model, with its dates, its hours of the day, its tiers and its services."""

    model: "ModelInfo"
    version: str
    own: bool
    """It is listed under this very seller: services of the seller it is borrowed from do not hold here."""

    def at(self, instant: datetime, service: Service = "standard") -> Price | None:
        """Return the price at an instant, None where the book does not say what its input costs."""
        listed = self.model.get_prices(instant)
        source = f"list:genai-prices {self.version}"
        if service != "standard":
            special = self.model.get_prices(instant, _CONTEXTS[service]) if self.own else listed
            if special == listed and service == "priority":
                return None
            source, listed = (source, listed) if special == listed else (f"{source} {service}", special)
        return _price(listed, source)

    def span(self, instant: datetime) -> Span:
        """Return the time between the two changes around an instant."""
        turns = [turn for one in self.constraints() for turn in _turns(one, instant.astimezone(UTC))]
        since = max((turn for turn in turns if turn <= instant), default=None)
        return Span(since, min((turn for turn in turns if turn > instant), default=None))

    def constraints(self) -> "Iterator[object]":
        """Return the conditions that its prices have, None where one has none."""
        prices = self.model.prices
        yield from (one.constraint for one in (prices if isinstance(prices, list) else ()))
        yield from (one.constraint for one in self.model.price_variants or ())


def list_tariff(provider_id: str, model: str) -> Listed | None:
    """Look a model up.

    Args:
        provider_id: The provider as the book names it, such as `openai` or `anthropic`.
        model: The provider's name of the model.

    Returns:
        What it costs, or None when the book does not know the model.
    """
    if _SEARCHES.search(model):
        return None
    book, version = _book()
    try:
        provider, found = book.find_provider_model(model, None, provider_id, None)
    except LookupError:
        return None
    return Listed(found, version, any(found is one for one in provider.models))


def newest_entry(at: datetime) -> date:
    """Return the date of the newest price in the book that holds by `at`: how old the book is at most.

    The book has no date of its own, and changes of prices are entered every few days.
    """
    from genai_prices.types import StartDateConstraint  # noqa: PLC0415  as below

    book, version = _book()
    models = (Listed(model, version, own=True) for provider in book.providers for model in provider.models)
    constraints = (one for model in models for one in model.constraints())
    dates = (one.start_date for one in constraints if isinstance(one, StartDateConstraint))
    return max(day for day in dates if day <= at.astimezone(UTC).date())


def _turns(constraint: object, instant: datetime) -> "Iterator[datetime]":
    """Find when a condition of the book begins or ends to hold: about an instant, where it does so every day."""
    from genai_prices.types import StartDateConstraint, TimeOfDateConstraint  # noqa: PLC0415  as below

    if isinstance(constraint, StartDateConstraint):
        yield datetime.combine(constraint.start_date, time(), UTC)
    elif isinstance(constraint, TimeOfDateConstraint):
        for bound in (constraint.start_time, constraint.end_time):
            aware = bound if bound.tzinfo else bound.replace(tzinfo=UTC)
            today = datetime.combine(instant.date(), aware).astimezone(UTC)
            yield from (today - _DAY, today, today + _DAY)


def _price(listed: "ModelPrice", source: str) -> Price | None:
    found = {ours: getattr(listed, name, None) for ours, name in _NAMES.items()}
    known = {ours: rate for ours, rate in found.items() if rate is not None}
    if "input" not in known or any(getattr(listed, name, None) is not None for name in _UNCOUNTED):
        return None
    starts = sorted({tier.start for rate in known.values() for tier in getattr(rate, "tiers", ())})
    tiers = tuple(_tier(known, f"{source} above {start}", start) for start in starts)
    return _tier(known, source, 0, tiers)


def _tier(known: "dict[str, Any]", source: str, above: int, tiers: tuple[Price, ...] = ()) -> Price:
    rates: dict[str, Any] = {"output": ZERO} | {ours: _listed(_base(rate, above)) for ours, rate in known.items()}
    return Price(**rates, source=source, above=above, tiers=tiers)


def _base(rate: Any, above: int) -> Decimal:
    """Return what a rate is for prompts just above a size."""
    reached = [tier.price for tier in getattr(rate, "tiers", ()) if tier.start <= above] if above else []
    return reached[-1] if reached else getattr(rate, "base", rate)


def _listed(rate: Decimal) -> Nanodollars:
    """The nearest nano-dollar, because the book has rates that went through floats, such as 0.18000000000000002."""
    return Nanodollars(round(Fraction(rate) * NANOS_PER_DOLLAR))


@cache
def _book() -> "tuple[DataSnapshot, str]":
    # Imported when first asked: the book takes 0.13 s and 26 MB, and many policies list no price from it.
    from genai_prices import __version__  # noqa: PLC0415
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415

    return get_snapshot(), __version__
