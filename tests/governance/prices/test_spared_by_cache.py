"""What a provider's cache made of a cost is exact: with it, cost and saving are what there would have been to pay."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict

from governance.money import ZERO, Nanodollars
from governance.prices import Price, Usage, cost_of, spared_by_cache

counts = st.integers(0, 10**6)
rates = st.integers(0, 10**11).map(Nanodollars)
usages = st.builds(Usage, **dict.fromkeys(Usage.__struct_fields__, counts))
prices = st.builds(
    Price,
    input=rates,
    output=rates,
    source=st.just("policy"),
    cached_input=rates,
    cache_write=rates,
    cache_write_1h=rates,
    audio_input=rates,
    cached_audio=rates,
)


@given(usages, prices)
def test_cost_and_saving_are_the_cost_of_the_same_tokens_without_a_cache(usage: Usage, price: Price) -> None:
    uncached = usage.uncached
    assert cost_of(usage, price) + spared_by_cache(usage, price) == cost_of(uncached, price)
    assert (uncached.input_tokens, uncached.output_tokens) == (usage.input_tokens, usage.output_tokens)
    assert uncached.uncached is uncached


@given(usages, prices)
def test_it_is_what_reads_spared_less_what_writes_cost_beyond_fresh_input(usage: Usage, price: Price) -> None:
    usage = Usage(**asdict(usage) | {"audio_read": 0})
    rate = {name: price.rate(name).nanos for name in ("fresh_input", "cache_read", "cache_write", "cache_write_1h")}
    exact = Fraction(
        usage.cache_read * (rate["fresh_input"] - rate["cache_read"])
        - usage.cache_write * (rate["cache_write"] - rate["fresh_input"])
        - usage.cache_write_1h * (rate["cache_write_1h"] - rate["fresh_input"]),
        1_000_000,
    )
    assert abs(spared_by_cache(usage, price).nanos - exact) < 1


def test_without_a_cache_there_is_nothing_to_spare() -> None:
    price = Price(input=Nanodollars(7), output=Nanodollars(9), source="policy")
    assert spared_by_cache(Usage(fresh_input=5, output=3, reasoning=2), price) == ZERO


def test_a_long_prompt_is_compared_within_its_own_tier() -> None:
    tier = Price(input=Nanodollars(20 * 10**6), cached_input=Nanodollars(2 * 10**6), output=ZERO, source="t", above=100)
    price = Price(
        input=Nanodollars(10 * 10**6), cached_input=Nanodollars(10**6), output=ZERO, source="p", tiers=(tier,)
    )
    assert spared_by_cache(Usage(fresh_input=1, cache_read=99), price).nanos == 99 * 9
    assert spared_by_cache(Usage(fresh_input=1, cache_read=100), price).nanos == 100 * 18
