"""From tokens to money: one rounding, each class at its own rate, each prompt at its own tier."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.money import ZERO, Nanodollars
from governance.prices import INPUT, OUTPUT, RATES, Price, Usage, billed, cost_of, scaled, worst_case

tokens = st.integers(0, 10_000_000)
usages = st.builds(Usage, **dict.fromkeys((*INPUT, *OUTPUT), tokens), tool_runs=st.integers(0, 1000))
rates = st.integers(0, 10**12).map(Nanodollars)
optional = {name: st.none() | rates for name in RATES if name not in {"input", "output"}}


def prices(**more: st.SearchStrategy[object]) -> st.SearchStrategy[Price]:
    return st.builds(Price, input=rates, output=rates, source=st.just("policy"), **optional, **more)


@st.composite
def tiered(draw: st.DrawFn) -> Price:
    starts = sorted(draw(st.sets(st.integers(1, 60_000_000), max_size=3)))
    tiers = tuple(draw(prices(above=st.just(start))) for start in starts)
    return draw(prices(tiers=st.just(tiers)))


def usd(text: str) -> Nanodollars:
    return Nanodollars.parse(text)


OPUS = Price(input=usd("15"), output=usd("75"), cached_input=usd("1.50"), cache_write=usd("18.75"), source="policy")
PLAIN = Price(input=usd("2"), output=usd("8"), source="policy")
ABOVE = Price(input=usd("2.5"), output=usd("15"), cached_input=usd("0.25"), source="list above 200000", above=200_000)
LONG = Price(input=usd("1.25"), output=usd("10"), cached_input=usd("0.125"), source="list", tiers=(ABOVE,))
OWN = {
    "fresh_input": "input", "cache_read": "cached_input", "cache_write": "cache_write",
    "cache_write_1h": "cache_write_1h", "audio_input": "audio_input", "audio_read": "cached_audio",
    "image_input": "image_input", "output": "output", "reasoning": "reasoning", "audio_output": "audio_output",
}  # fmt: skip
EVERY = Price(source="policy", **{name: usd(str(place + 1)) for place, name in enumerate(RATES)})  # pyright: ignore[reportArgumentType]


def test_each_class_is_billed_at_its_own_rate() -> None:
    usage = Usage(fresh_input=1000, cache_read=2000, cache_write=400, output=100, reasoning=50)
    assert cost_of(usage, OPUS) == usd("0.03675")


@pytest.mark.parametrize(("name", "rate"), OWN.items())
def test_a_million_tokens_of_a_class_cost_its_rate(name: str, rate: str) -> None:
    assert cost_of(Usage(**{name: 1_000_000}), EVERY) == getattr(EVERY, rate)


def test_a_thousand_runs_of_a_tool_cost_its_rate() -> None:
    assert cost_of(Usage(tool_runs=1000), EVERY) == EVERY.tool_run
    assert cost_of(Usage(tool_runs=3), Price(input=ZERO, output=ZERO, source="", tool_run=usd("10"))) == usd("0.03")


@pytest.mark.parametrize("name", ["cache_read", "cache_write", "audio_input", "audio_read", "image_input"])
def test_input_without_a_rate_is_billed_as_input_and_the_source_says_so(name: str) -> None:
    usage = Usage(**{name: 10})
    assert cost_of(usage, PLAIN) == cost_of(Usage(fresh_input=10), PLAIN)
    assert billed(usage, PLAIN).source == f"policy; no rate for {name}"


@pytest.mark.parametrize("name", ["reasoning", "audio_output"])
def test_output_without_a_rate_is_billed_as_output(name: str) -> None:
    assert cost_of(Usage(**{name: 10}), PLAIN) == cost_of(Usage(output=10), PLAIN)


def test_reasoning_is_output_unless_it_has_a_rate_so_that_nothing_is_flagged() -> None:
    assert billed(Usage(10, reasoning=10), PLAIN) == PLAIN


def test_cached_sound_without_a_rate_is_billed_as_sound() -> None:
    price = Price(input=usd("2"), output=usd("8"), audio_input=usd("40"), source="policy")
    assert cost_of(Usage(audio_read=10), price) == cost_of(Usage(audio_input=10), price)


def test_what_is_kept_for_an_hour_without_a_rate_costs_twice_the_input_and_never_less_than_for_minutes() -> None:
    hour = Usage(cache_write_1h=1_000_000)
    assert cost_of(hour, OPUS) == usd("30")
    assert cost_of(hour, PLAIN) == usd("4")
    assert cost_of(hour, Price(input=usd("1"), output=usd("1"), cache_write=usd("3"), source="")) == usd("3")
    assert billed(hour, OPUS).source == "policy; no rate for cache_write_1h"


def test_runs_of_a_tool_without_a_fee_are_flagged() -> None:
    assert billed(Usage(tool_runs=2), PLAIN).source == "policy; no rate for tool_runs"


def test_a_whole_request_is_billed_at_the_tier_of_its_prompt() -> None:
    assert cost_of(Usage(200_000, output=1000), LONG) == usd("0.26")
    assert cost_of(Usage(200_001, output=1000), LONG) == usd("0.5150025")


def test_cached_tokens_count_for_the_tier_and_reasoning_is_billed_at_it() -> None:
    assert cost_of(Usage(1, 200_000, reasoning=1000), LONG) == usd("0.0650025")


def test_the_price_that_is_kept_is_that_of_the_tier() -> None:
    assert billed(Usage(200_001), LONG) == LONG.tiers[0]
    below = billed(Usage(200_000), LONG)
    assert (below.tiers, below.source, below.input) == ((), "list", usd("1.25"))


@given(usages, tiered())
def test_a_cost_is_exact_and_rounds_up_once(usage: Usage, price: Price) -> None:
    tier = price.for_prompt(usage.input_tokens)
    by_class = sum(getattr(usage, name) * tier.rate(name).nanos for name in (*INPUT, *OUTPUT))
    fees = 0 if tier.tool_run is None else usage.tool_runs * tier.tool_run.nanos
    assert 0 <= cost_of(usage, price).nanos - (Fraction(by_class, 1_000_000) + Fraction(fees, 1000)) < 1


@given(usages, tiered())
def test_the_price_that_is_kept_gives_the_same_cost_again(usage: Usage, price: Price) -> None:
    assert cost_of(usage, billed(usage, price)) == cost_of(usage, price)


@given(usages, tiered(), st.integers(0, 1000), st.integers(0, 10_000_000))
def test_no_request_costs_more_than_its_worst_case(usage: Usage, price: Price, spare: int, shorter: int) -> None:
    used = [name for name in (*INPUT, *OUTPUT) if getattr(usage, name)]
    worst = worst_case(
        usage.input_tokens + shorter, usage.output_tokens + spare, price, used, tool_runs=usage.tool_runs
    )
    assert cost_of(usage, price) <= worst


def test_a_worst_case_of_text_needs_no_room_for_sound() -> None:
    price = Price(input=usd("2"), output=usd("8"), audio_input=usd("40"), audio_output=usd("80"), source="policy")
    assert worst_case(1000, 1000, price) == usd("0.01")
    assert worst_case(1000, 1000, price, (*INPUT, *OUTPUT)) == usd("0.12")


def test_a_worst_case_has_room_for_the_tiers_within_reach_alone() -> None:
    assert worst_case(200_000, 0, LONG) == usd("0.25")
    assert worst_case(200_001, 0, LONG) == usd("0.5000025")


def test_a_dearer_price_of_short_prompts_counts_in_the_worst_case_of_a_long_one() -> None:
    price = Price(
        input=usd("9"), output=ZERO, source="", tiers=(Price(input=usd("1"), output=ZERO, source="", above=5),)
    )
    assert worst_case(1000, 0, price) == usd("0.009")


@given(tiered(), st.fractions(0, 10))
def test_a_scaled_price_scales_every_rate_of_every_tier_and_rounds_up(price: Price, ratio: Fraction) -> None:
    times = scaled(price, ratio, "agreed")
    for before, after in zip((price, *price.tiers), (times, *times.tiers), strict=True):
        for name, rate in before.rates.items():
            new = after.rates[name]
            assert (rate is None) == (new is None)
            assert rate is None or new is None or 0 <= new.nanos - rate.nanos * ratio < 1
    assert all(tier.source == f"agreed above {tier.above}" for tier in times.tiers)


def test_a_fee_for_a_tool_may_be_left_as_it_is() -> None:
    assert scaled(EVERY, Fraction(1, 2), "", fees=False).tool_run == EVERY.tool_run
