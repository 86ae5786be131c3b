"""From tokens to money: one rounding, no token twice, no silent zero."""

from datetime import UTC, datetime
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.money import ZERO, Nanodollars
from governance.prices import Price, Usage, cost_of, list_price, measured_price, worst_case

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)

tokens = st.integers(0, 10_000_000)
usages = st.builds(Usage, tokens, tokens, tokens, tokens, tokens)
rates = st.integers(0, 10**12).map(Nanodollars)
prices = st.builds(
    Price,
    input=rates,
    output=rates,
    source=st.just("policy"),
    cached_input=st.none() | rates,
    cache_write=st.none() | rates,
)


def usd(text: str) -> Nanodollars:
    return Nanodollars.parse(text)


OPUS = Price(input=usd("15"), output=usd("75"), cached_input=usd("1.50"), cache_write=usd("18.75"), source="policy")


@given(prompt=tokens, completion=tokens, data=st.data())
def test_the_classes_of_an_openai_usage_add_up_to_its_totals(prompt: int, completion: int, data: st.DataObject) -> None:
    cached, reasoning = data.draw(st.integers(0, prompt)), data.draw(st.integers(0, completion))
    usage = Usage.from_openai(
        {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        }
    )
    assert usage is not None
    assert usage == Usage(prompt - cached, cached, 0, completion - reasoning, reasoning)
    assert (usage.input_tokens, usage.output_tokens, usage.total) == (prompt, completion, prompt + completion)


def test_zero_tokens_are_a_usage_and_absence_is_none() -> None:
    assert Usage.from_openai({"prompt_tokens": 0, "completion_tokens": 0}) == Usage()
    assert Usage.from_openai(None) is None
    assert Usage.from_openai({}) is None


def test_details_may_be_absent_or_null() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": None}
    assert Usage.from_openai(usage) == Usage(fresh_input=7, output=3)
    assert Usage.from_openai(usage | {"prompt_tokens_details": {"cached_tokens": None}}) == Usage(7, output=3)


def test_an_embedding_has_no_completion() -> None:
    assert Usage.from_openai({"prompt_tokens": 8, "total_tokens": 8}) == Usage(fresh_input=8)


def test_reasoning_beside_the_completion_is_not_subtracted() -> None:
    usage = Usage.from_openai(
        {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "total_tokens": 115,
            "completion_tokens_details": {"reasoning_tokens": 100},
        }
    )
    assert usage == Usage(fresh_input=10, output=5, reasoning=100)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 7},
        {"completion_tokens": 7},
        {"prompt_tokens": "7", "completion_tokens": 3},
        {"prompt_tokens": 7.0, "completion_tokens": 3},
        {"prompt_tokens": True, "completion_tokens": 3},
        {"prompt_tokens": -1, "completion_tokens": 3},
        {"prompt_tokens": 10**12, "completion_tokens": 3},
        {"prompt_tokens": 8, "total_tokens": 7},
        {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}},
        {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": [1]},
        {"prompt_tokens": 7, "completion_tokens": 3, "completion_tokens_details": {"reasoning_tokens": 4}},
    ],
)
def test_nonsense_is_not_a_usage(usage: dict[str, object]) -> None:
    assert Usage.from_openai(usage) is None


def test_each_class_is_billed_at_its_own_rate() -> None:
    usage = Usage(fresh_input=1000, cache_read=2000, cache_write=400, output=100, reasoning=50)
    assert cost_of(usage, OPUS) == usd("0.03675")


def test_a_missing_cache_rate_is_billed_as_input() -> None:
    price = Price(input=usd("2"), output=usd("8"), source="policy")
    assert cost_of(Usage(cache_read=10, cache_write=10), price) == cost_of(Usage(fresh_input=20), price)


@given(usages, prices)
def test_a_cost_is_exact_and_rounds_up_once(usage: Usage, price: Price) -> None:
    cached = price.input if price.cached_input is None else price.cached_input
    written = price.input if price.cache_write is None else price.cache_write
    exact = Fraction(
        usage.fresh_input * price.input.nanos
        + usage.cache_read * cached.nanos
        + usage.cache_write * written.nanos
        + usage.output_tokens * price.output.nanos,
        1_000_000,
    )
    assert 0 <= cost_of(usage, price).nanos - exact < 1


@given(usages, prices, st.integers(0, 1000))
def test_no_request_costs_more_than_its_worst_case(usage: Usage, price: Price, spare: int) -> None:
    assert cost_of(usage, price) <= worst_case(usage.input_tokens, usage.output_tokens + spare, price)


def test_a_machine_is_priced_by_its_time() -> None:
    price = measured_price(usd("3.60"), prefill_tps=1000.0, decode_tps=10.0)
    assert price.input == usd("1")
    assert price.output == usd("100")
    assert price.cached_input == ZERO
    assert price.source == "measured:prefill=1000.0/s decode=10.0/s @3.60 USD/h"


@pytest.mark.parametrize("rate", [0.0, -1.0, float("inf"), float("nan")])
def test_a_rate_that_measures_nothing_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="above zero"):
        measured_price(usd("1"), prefill_tps=rate, decode_tps=1.0)


def test_the_book_knows_public_models() -> None:
    price = list_price("anthropic", "claude-opus-4-1", NOW)
    assert price is not None
    assert (price.input, price.output) == (usd("15"), usd("75"))
    assert (price.cached_input, price.cache_write) == (usd("1.5"), usd("18.75"))
    assert price.source.startswith("list:genai-prices ")


def test_the_dearest_tier_of_the_book_counts() -> None:
    price = list_price("google", "gemini-2.5-pro", NOW)
    assert price is not None
    assert price.input == usd("2.5")
    assert price.source.endswith("(dearest tier)")


def test_what_the_book_does_not_know_has_no_price() -> None:
    assert list_price("openai", "no-such-model", NOW) is None
    assert list_price("no-such-provider", "gpt-4.1", NOW) is None


def test_every_price_of_the_book_can_be_read() -> None:
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415  late, as in the code under test

    models = [(provider.id, model.id) for provider in get_snapshot().providers for model in provider.models]
    assert sum(list_price(provider, model, NOW) is not None for provider, model in models) > 500
