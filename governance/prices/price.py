"""A price: a rate for each class of tokens, and what a usage costs by it, rounded once."""

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Final

from msgspec import Struct
from msgspec.structs import astuple, replace

from governance.money import NANOS_PER_DOLLAR, ZERO, Nanodollars
from governance.prices.usage import INPUT, OUTPUT, TEXT, Usage

TOKENS_PER_PRICE: Final = 1_000_000
_RUNS: Final = 1_000
"""Tokens per price for each run of a tool, whose price is that of a thousand."""

DEAREST: Final = Nanodollars(10_000 * NANOS_PER_DOLLAR)
"""The most that a million tokens may cost. Above it no price is meant, and amounts could outgrow 64 bits."""

UNKNOWN: Final = "unknown:flagged"
"""How the source of a price begins that stands in for one that nobody knows."""

RATES: Final = (
    "input",
    "cached_input",
    "cache_write",
    "cache_write_1h",
    "audio_input",
    "cached_audio",
    "image_input",
    "output",
    "reasoning",
    "audio_output",
    "tool_run",
)

_RATES_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "fresh_input": ("input",),
    "cache_read": ("cached_input", "input"),
    "cache_write": ("cache_write", "input"),
    "cache_write_1h": ("cache_write_1h",),
    "audio_input": ("audio_input", "input"),
    "audio_read": ("cached_audio", "audio_input", "input"),
    "image_input": ("image_input", "input"),
    "output": ("output",),
    "reasoning": ("reasoning", "output"),
    "audio_output": ("audio_output", "output"),
}
"""The rates that a class may be billed at; the first that is known holds."""

_PLAIN: Final = ("fresh_input", "output")
_OWN: Final = tuple(None if name == "reasoning" else rates[0] for name, rates in _RATES_OF.items())
"""The rate that each class should have; that of output is reasoning's own."""


class Price(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """USD per million tokens of each class, as `Nanodollars`, and where the price comes from.

    `tool_run` is USD per thousand calls of tools that the provider runs. `tiers` are what holds in place of all this
    for prompts of more than `above` tokens, in rising order: the whole request is billed at the tier's rates.

    `source` is `policy`, `list:<book> <version>`, `measured:<rates>` or `unknown:flagged`, and what was done to it. A
    class without a rate is billed as the same tokens are that no cache has, and that as text: input or output.
    """

    input: Nanodollars
    output: Nanodollars
    source: str
    cached_input: Nanodollars | None = None
    cache_write: Nanodollars | None = None
    cache_write_1h: Nanodollars | None = None
    audio_input: Nanodollars | None = None
    cached_audio: Nanodollars | None = None
    image_input: Nanodollars | None = None
    reasoning: Nanodollars | None = None
    audio_output: Nanodollars | None = None
    tool_run: Nanodollars | None = None
    above: int = 0
    tiers: "tuple[Price, ...]" = ()

    @property
    def unknown(self) -> bool:
        """Whether it is that of another model, because nobody knows the price of this one."""
        return self.source.startswith(UNKNOWN)

    @property
    def rates(self) -> dict[str, Nanodollars | None]:
        """Each rate by its name."""
        return {name: getattr(self, name) for name in RATES}

    @property
    def dearest(self) -> Nanodollars:
        """The highest rate that tokens may be billed at."""
        return max(each.rate(name) for each in (self, *self.tiers) for name in _RATES_OF)

    def rate(self, name: str) -> Nanodollars:
        """Return what a million tokens of a class cost.

        What is written to a cache for an hour costs, where its rate is unknown, twice the input as it does at the one
        provider that offers it, and never less than what is written for minutes.
        """
        for rate in _RATES_OF[name]:
            found: Nanodollars | None = getattr(self, rate)
            if found is not None:
                return found
        return max(Nanodollars(2 * self.input.nanos), self.rate("cache_write"))

    def for_prompt(self, tokens: int) -> "Price":
        """Return the price that holds for a prompt of so many tokens, without its other tiers."""
        for tier in reversed(self.tiers):
            if tokens > tier.above:
                return tier
        return replace(self, tiers=()) if self.tiers else self


def cost_of(usage: Usage, price: Price) -> Nanodollars:
    """Price a usage exactly, by the tier of its prompt, rounding once, up, to a whole nano-dollar."""
    if price.tiers:
        price = price.for_prompt(usage.input_tokens)
    scaled = usage.fresh_input * price.input.nanos + usage.output * price.output.nanos
    if usage.plain:  # most are, and every request is priced several times
        return _rounded_up(scaled)
    for name, tokens in zip(_RATES_OF, astuple(usage), strict=False):
        if tokens and name not in _PLAIN:
            scaled += tokens * price.rate(name).nanos
    if usage.tool_runs and price.tool_run is not None:
        scaled += usage.tool_runs * price.tool_run.nanos * _RUNS
    return _rounded_up(scaled)


def spared_by_cache(usage: Usage, price: Price) -> Nanodollars:
    """Return what a provider's cache of prompts made of the cost of a usage; negative where writing it was dearer.

    It is the cost of the same tokens without a cache less the cost with it, each rounded as it is billed: so much was
    read at less than the rate of fresh input, and so much was written at more. Cost and saving add up exactly to what
    there would have been to pay.
    """
    uncached = usage.uncached
    return ZERO if uncached is usage else cost_of(uncached, price) - cost_of(usage, price)


def billed(usage: Usage, price: Price) -> Price:
    """Return the rates that a usage is billed at: those of its tier; its source names what had no rate of its own."""
    chosen = price.for_prompt(usage.input_tokens) if price.tiers else price
    if usage.plain:
        return chosen
    lacking = [
        name
        for name, tokens, rate in zip(Usage.__struct_fields__, astuple(usage), (*_OWN, "tool_run"), strict=True)
        if tokens and rate is not None and getattr(chosen, rate) is None
    ]
    return replace(chosen, source=f"{chosen.source}; no rate for {', '.join(lacking)}") if lacking else chosen


def worst_case(
    prompt_tokens: int, max_output: int, price: Price, classes: Collection[str] = TEXT, *, tool_runs: int = 0
) -> Nanodollars:
    """Price the most a request can cost: all its tokens in the dearest classes, at the dearest tier within its reach.

    Args:
        prompt_tokens: The most that its prompt can be.
        max_output: The most that its answers can be together.
        price: What its model costs.
        classes: The classes of `Usage` that it may use.
        tool_runs: How often the provider may run a tool for it.
    """
    most = 0
    for tier in (price, *price.tiers):
        if tier.above < prompt_tokens or not tier.above:
            rates = [(name, tier.rate(name).nanos) for name in classes]
            read = max([rate for name, rate in rates if name in INPUT], default=0)
            made = max([rate for name, rate in rates if name in OUTPUT], default=0)
            runs = 0 if tier.tool_run is None else tier.tool_run.nanos
            most = max(most, prompt_tokens * read + max_output * made + tool_runs * runs * _RUNS)
    return _rounded_up(most)


def scaled(price: Price, ratio: Fraction, source: str, *, fees: bool = True) -> Price:
    """Return a price with each rate times a ratio, rounded up; fees for tools only where they are meant as well."""

    def times(name: str, rate: Nanodollars | None) -> Nanodollars | None:
        if rate is None or (name == "tool_run" and not fees):
            return rate
        return Nanodollars(-(-rate.nanos * ratio.numerator // ratio.denominator))

    def of(each: Price) -> Price:
        tier = f" above {each.above}" if each.above else ""
        rates = {name: times(name, rate) for name, rate in each.rates.items()}
        return replace(each, **rates, source=source + tier, tiers=tuple(map(of, each.tiers)))

    return of(price)


def _rounded_up(scaled_nanos: int) -> Nanodollars:
    return Nanodollars(-(-scaled_nanos // TOKENS_PER_PRICE))
