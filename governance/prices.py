"""Prices: from tokens to money, with one rounding.

Tokens are counted in disjoint classes, because providers report overlapping ones and bill each class at its own rate.
A price says where it came from. Nothing here guesses: an unknown model has no price.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, Self

from msgspec import Struct

from governance.money import NANOS_PER_DOLLAR, ZERO, Nanodollars

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot

TOKENS_PER_PRICE: Final = 1_000_000
MOST_TOKENS: Final = 1_000_000_000
DEAREST: Final = Nanodollars(10_000 * NANOS_PER_DOLLAR)
"""The most that a million tokens may cost. Above it no price is meant, and amounts could outgrow 64 bits."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a request in classes that do not overlap; all are counts >= 0."""

    fresh_input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0

    @property
    def input_tokens(self) -> int:
        """All tokens read, from a cache or not."""
        return self.fresh_input + self.cache_read + self.cache_write

    @property
    def output_tokens(self) -> int:
        """All tokens that are billed as output, reasoning included."""
        return self.output + self.reasoning

    @property
    def total(self) -> int:
        """Every token once."""
        return self.input_tokens + self.output_tokens

    @classmethod
    def from_openai(cls, usage: object) -> Self | None:
        """Read the `usage` object of an OpenAI answer.

        `prompt_tokens` includes cached tokens and `completion_tokens` includes reasoning. What `total_tokens` holds
        beyond both is output as well: some report their thinking only there. Embeddings report no completion.

        Returns:
            The usage, or None when it is absent or makes no sense; zero tokens are a usage.
        """
        if not isinstance(usage, Mapping):
            return None
        prompt, total = _count(usage, "prompt_tokens"), _count(usage, "total_tokens")
        completion = _count(usage, "completion_tokens")
        cached = _detail(usage, "prompt_tokens_details", "cached_tokens")
        reasoning = _detail(usage, "completion_tokens_details", "reasoning_tokens")
        if prompt is None or cached is None or reasoning is None or (completion is None and total is None):
            return None
        beyond = 0 if total is None else total - prompt
        billed = beyond if completion is None else max(completion, beyond)
        if cached > prompt or reasoning > billed or billed < 0:
            return None
        output = billed - reasoning
        return cls(fresh_input=prompt - cached, cache_read=cached, output=output, reasoning=reasoning)


class Price(Struct, frozen=True, kw_only=True, gc=False):
    """USD per million tokens of each class, as `Nanodollars`, and where the price comes from.

    `source` is `policy`, `list:<book> <version>` or `measured:<rates>`. A cache rate that is None is billed as input.
    """

    input: Nanodollars
    output: Nanodollars
    source: str
    cached_input: Nanodollars | None = None
    cache_write: Nanodollars | None = None

    @property
    def dearest(self) -> Nanodollars:
        """The highest of its rates."""
        return max(rate for rate in (self.input, self.cached_input, self.cache_write, self.output) if rate is not None)


def cost_of(usage: Usage, price: Price) -> Nanodollars:
    """Price a usage exactly, rounding once, up, to a whole nano-dollar."""
    cached = price.input if price.cached_input is None else price.cached_input
    written = price.input if price.cache_write is None else price.cache_write
    return _rounded_up(
        usage.fresh_input * price.input.nanos
        + usage.cache_read * cached.nanos
        + usage.cache_write * written.nanos
        + usage.output_tokens * price.output.nanos
    )


def worst_case(prompt_tokens: int, max_output: int, price: Price) -> Nanodollars:
    """Price the most a request can cost: every prompt token in the dearest input class, and all output it may make."""
    dearest = max(rate.nanos for rate in (price.input, price.cached_input, price.cache_write) if rate is not None)
    return _rounded_up(prompt_tokens * dearest + max_output * price.output.nanos)


@lru_cache(maxsize=256)  # a choice asks for it several times a request, and it changes with the measurement alone
def measured_price(machine_usd_per_hour: Nanodollars, prefill_tps: float, decode_tps: float) -> Price:
    """Price a model on a machine of our own by the machine time its tokens take, so that local is never free.

    Tokens read from the prefix cache cost nothing here, because the machine does not compute them.

    Args:
        machine_usd_per_hour: The amortised price of the machine.
        prefill_tps: Prompt tokens it computes in a second.
        decode_tps: Answer tokens it makes in a second.

    Raises:
        ValueError: A rate is not a finite number above zero.
    """
    if not all(math.isfinite(rate) and rate > 0 for rate in (prefill_tps, decode_tps)):
        raise ValueError(f"rates must be above zero, not {prefill_tps} and {decode_tps}")

    def per_million(rate: float) -> Nanodollars:
        return Nanodollars(math.ceil(machine_usd_per_hour.nanos * TOKENS_PER_PRICE / (3600 * Fraction(rate))))

    rates = f"prefill={prefill_tps:.1f}/s decode={decode_tps:.1f}/s"
    return Price(
        input=per_million(prefill_tps),
        output=per_million(decode_tps),
        cached_input=ZERO,
        source=f"measured:{rates} @{machine_usd_per_hour.usd} USD/h",
    )


def list_price(provider_id: str, model: str, at: datetime) -> Price | None:
    """Look a model up in the public price book that is installed with this program; nothing is fetched.

    Where a price depends on the length of the prompt, the dearest tier counts, and the source says so.

    Args:
        provider_id: The provider as the book names it, such as `openai` or `anthropic`.
        model: The provider's name of the model.
        at: When; prices change at dates.

    Returns:
        The price, or None when the book does not know the model or what its input costs.
    """
    book, version = _book()
    try:
        _, found = book.find_provider_model(model, None, provider_id, None)
    except LookupError:
        return None
    listed = found.get_prices(at)
    tiered, rates = False, dict[str, Nanodollars | None]()
    for name in ("input_mtok", "cache_read_mtok", "cache_write_mtok", "output_mtok"):
        rate = getattr(listed, name)
        tiers = [tier.price for tier in getattr(rate, "tiers", ())]
        tiered = tiered or bool(tiers)
        rates[name] = None if rate is None else _listed(max([getattr(rate, "base", rate), *tiers]))
    if rates["input_mtok"] is None:
        return None
    return Price(
        input=rates["input_mtok"],
        cached_input=rates["cache_read_mtok"],
        cache_write=rates["cache_write_mtok"],
        output=rates["output_mtok"] or ZERO,
        source=f"list:genai-prices {version}{' (dearest tier)' if tiered else ''}",
    )


def _listed(rate: Decimal) -> Nanodollars:
    """The nearest nano-dollar, because the book has rates that went through floats, such as 0.18000000000000002."""
    return Nanodollars(round(Fraction(rate) * NANOS_PER_DOLLAR))


@cache
def _book() -> "tuple[DataSnapshot, str]":
    # Imported when first asked: the book takes 0.13 s and 26 MB, and many policies list no price from it.
    from genai_prices import __version__  # noqa: PLC0415
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415

    return get_snapshot(), __version__


def _rounded_up(scaled_nanos: int) -> Nanodollars:
    return Nanodollars(-(-scaled_nanos // TOKENS_PER_PRICE))


def _count(usage: Mapping[str, object], name: str) -> int | None:
    value = usage.get(name)
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


def _detail(usage: Mapping[str, object], group: str, name: str) -> int | None:
    """A count inside a details object: zero when it was left out, None when it is nonsense."""
    details = usage.get(group)
    if details is None:
        return 0
    if not isinstance(details, Mapping):
        return None
    return 0 if details.get(name) is None else _count(details, name)
