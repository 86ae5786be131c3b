"""What each model of a policy costs: from its own pages, the price book, a contract, or as another model."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.policy.source import LoadedPolicy, parse_policy
from governance.money import Nanodollars
from governance.prices import Price, Service, Tariff
from governance.prices.tariff import always
from tests.support.policy_texts import AT, EXAMPLE, KEYS, SMALL, read

TEXT = EXAMPLE.read_text("utf-8")
NEW_YEAR = datetime(2027, 1, 1, tzinfo=UTC)
UNKNOWN = TEXT.replace("gpt-4.1-mini", "gpt-9")


def usd(text: str) -> Nanodollars:
    return Nanodollars.parse(text)


def rate(policy: LoadedPolicy, model: str, service: Service = "standard", at: datetime = AT) -> str:
    price = policy.tariffs[model].at(at, service)
    assert price is not None
    return price.input.usd


def test_dated_prices_follow_one_another() -> None:
    prices = "price: [{input: 1, output: 2}, {input: 3, output: 4, from: 2027-01-01}]"
    policy = read(SMALL.replace("price: {input: 1, output: 2.50}", prices, 1))
    assert policy.prices["large"].input == usd("1")
    assert rate(policy, "large", at=NEW_YEAR - timedelta(microseconds=1)) == "1.00"
    assert rate(policy, "large", at=NEW_YEAR) == "3.00"


def test_a_model_whose_price_begins_later_is_unavailable_until_then_and_has_no_stand_in() -> None:
    text = SMALL.replace("output: 2.50}", "output: 2.50, from: 2027-01-01}", 1)
    policy = read(text + "unknown_model: flag\n")
    assert policy.unpriced == {"large": "it has no price before 2027-01-01"}
    assert policy.tariffs["large"].at(AT) is None
    assert rate(policy, "large", at=NEW_YEAR) == "1.00"
    assert any("it has no price before 2027-01-01: the model is unavailable" in str(one) for one in policy.warnings)


def test_a_provider_s_discount_is_over_the_list_prices_of_its_models_alone() -> None:
    policy = read(TEXT.replace("    batch: true ", "    discount: 15%\n    batch: true "), KEYS)
    assert (policy.prices["gpt"].input, policy.prices["gpt"].source) == (usd("0.85"), "list:test x0.85")
    assert policy.prices["opus"].input == usd("15")


def test_a_model_s_own_terms_stand_in_place_of_its_provider_s() -> None:
    text = TEXT.replace("    batch: true ", "    discount: 15%\n    batch_discount: 50%\n    batch: true ")
    policy = read(text.replace("tier: standard, price: list}", "tier: standard, price: list, multiplier: 1.5}"), KEYS)
    assert (rate(policy, "gpt"), rate(policy, "gpt-mini")) == ("1.50", "0.85")
    assert (rate(policy, "gpt", "batch"), rate(policy, "gpt-mini", "batch")) == ("0.75", "0.425")


def test_a_batch_discount_is_off_prices_of_the_policy_too() -> None:
    policy = read(SMALL.replace("output: 2.50}", "output: 2.50}, batch_discount: 25%", 1))
    assert (rate(policy, "large"), rate(policy, "large", "batch")) == ("1.00", "0.75")


def test_a_model_without_a_price_is_flagged_and_counted_as_the_dearest_of_the_policy() -> None:
    policy = read(UNKNOWN.replace("unknown_model: deny", "unknown_model: flag"), KEYS)
    price = policy.prices["gpt-mini"]
    assert price.unknown
    assert price.rates == policy.prices["opus"].rates
    assert price.source == "unknown:flagged (as opus)"
    assert (policy.flagged, policy.unpriced) == ({"gpt-mini": "opus"}, {})
    assert [warning.told for warning in policy.warnings] == [
        'models.gpt-mini.price: has no price: it is flagged, and counted as "opus"; write its prices'
    ]


def test_where_no_model_has_a_price_none_can_be_flagged() -> None:
    text = SMALL.replace("price: {input: 1, output: 2.50}", "price: list", 1)
    assert set(read(text + "unknown_model: flag\n").unpriced) == {"large"}


def test_a_measured_model_is_never_flagged() -> None:
    policy = read(SMALL + "unknown_model: flag\n")
    assert (policy.flagged, set(policy.tariffs)) == ({}, {"large"})


@pytest.mark.parametrize("rule", ["deny", "{price_as: smollm2}"])
def test_what_cannot_be_counted_as_another_is_unavailable(rule: str) -> None:
    policy = read(UNKNOWN.replace("unknown_model: deny", f"unknown_model: {rule}"), KEYS)
    assert set(policy.unpriced) == {"gpt-mini"}


def test_the_book_is_asked_for_the_seller_s_own_name_of_a_model() -> None:
    asked: list[tuple[str, str]] = []

    def book(seller: str, model: str) -> Tariff | None:
        asked.append((seller, model))
        return always(Price(input=usd("1"), output=usd("1"), source="list:test"))

    parse_policy(TEXT, "policy.yaml", KEYS, AT, book)
    assert asked == [("openai", "gpt-4.1-mini"), ("openai", "gpt-4.1")]
