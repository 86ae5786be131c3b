"""What may be written of prices, and what it means."""

from datetime import date
from fractions import Fraction
from typing import Any

import pytest

from gateway.policy.pricing.sections import PriceSection, Terms
from gateway.policy.problems import PolicyInvalid
from governance.money import ZERO
from tests.support.policy_texts import SMALL, read

RATES = "price: {input: 1, output: 2.50}"


def price(rates: str, **more: str) -> PriceSection:
    text = SMALL.replace(RATES, f"price: {rates}", 1)
    (stated,) = read(text, more).document.models[1].stated_prices
    return stated


def refused(written: str) -> str:
    with pytest.raises(PolicyInvalid) as invalid:
        read(SMALL.replace(RATES, written, 1))
    (problem,) = invalid.value.problems
    return problem.told


def test_every_class_may_have_a_rate() -> None:
    stated = price(
        "{input: 1, cached_input: 2, cache_write: 3, cache_write_1h: 4, audio_input: 5, cached_audio: 6, "
        "image_input: 7, output: 8, reasoning: 9, audio_output: 10, tool_run: 11}"
    )
    assert [rate and rate.usd for rate in stated.price.rates.values()] == [f"{n}.00" for n in range(1, 12)]
    assert stated.price.source == "policy"


def test_a_tier_has_the_rates_below_it_where_it_names_none() -> None:
    stated = price("{input: 1, cached_input: 0.1, output: 2, tiers: [{above: 10, input: 3}, {above: 20, output: 4}]}")
    first, second = stated.price.tiers
    assert (first.above, first.input.usd, first.output.usd) == (10, "3.00", "2.00")
    assert (second.above, second.input.usd, second.output.usd) == (20, "3.00", "4.00")
    assert second.cached_input == stated.cached_input
    assert (first.source, second.source) == ("policy above 10", "policy above 20")


def test_a_price_begins_at_midnight_utc_and_its_source_says_when() -> None:
    stated = price("{input: 1, output: 2, from: 2026-03-04}")
    assert stated.since == date(2026, 3, 4)
    assert stated.begins is not None
    assert stated.begins.isoformat() == "2026-03-04T00:00:00+00:00"
    assert stated.price.source == "policy from 2026-03-04"


def test_an_embedding_needs_no_price_for_output() -> None:
    text = SMALL.replace(f"{RATES}}}", "kind: embedding, price: {input: 1}}", 1).replace(
        "strong: large", "strong: small"
    )
    assert read(text).prices["large"].output == ZERO


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("price: []", "models.large.price: "),
        ("price: {output: 2}", 'models.large.price: needs "input"'),
        ("price: {input: 1}", 'models.large: the price of a chat model needs "output"'),
        ("price: [{input: 1, output: 1}, {input: 1, from: 2027-01-01}]", "models.large: the price of a chat model"),
        ("price: {input: 1, output: 1, from: 2027-02-30}", "models.large.price.from: should be a date, such as"),
        ("price: {input: 1, output: 1, from: 20270101}", "models.large.price.from: should be a date, such as"),
        ("price: {input: 1, output: 1, cache_write_2h: 1}", "models.large.price.cache_write_2h: unknown field"),
        ("price: {input: 1, output: 1, tiers: [{input: 1}]}", 'models.large.price.tiers[0]: needs "above"'),
        ("price: {input: 1, output: 1, tiers: [{above: 0}]}", "models.large.price.tiers[0].above: "),
        ("price: {input: 1, output: 1, tiers: [{above: 2}, {above: 2}]}", "models.large.price: the tiers of a price"),
        (
            "price: [{input: 1, output: 1, from: 2027-01-01}, {input: 1, output: 1}]",
            'models.large.price: should be in rising order of "from"',
        ),
        ("price: list, discount: 100%", "models.large.discount: should be less than 100"),
        ("price: list, discount: 15", "models.large.discount: should be a percentage"),
        ("price: list, multiplier: 0", "models.large.multiplier: should be a number above 0, at most 100"),
        ("price: list, multiplier: 1.2, discount: 5%", "models.large: has a discount and a multiplier"),
        (f"{RATES}, discount: 15%", "models.large: has a discount or a multiplier, which are over list prices"),
        ("price: measured, batch_discount: 50%", "models.large: has a batch_discount, but a machine"),
    ],
)
def test_a_mistake_is_told_where_it_stands(written: str, told: str) -> None:
    assert refused(written).startswith(told)


@pytest.mark.parametrize(
    ("written", "factor", "batch"),
    [
        ({}, None, None),
        ({"discount": "15%"}, Fraction(85, 100), None),
        ({"multiplier": 2}, Fraction(2), None),
        ({"batch_discount": "50%"}, None, Fraction(1, 2)),
    ],
)
def test_terms_are_what_prices_are_multiplied_by(written: Any, factor: Fraction | None, batch: Fraction | None) -> None:
    terms = Terms.model_validate(written)
    assert (terms.factor, terms.batch_factor) == (factor, batch)
