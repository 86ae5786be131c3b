"""What models cost now, for people and programs."""

from datetime import UTC, datetime

from gateway.policy.pricing.listing import quotes
from gateway.policy.source import load_policy
from tests.support.policy_texts import AT, EXAMPLE, KEYS, SMALL, read


def test_every_model_is_listed_with_its_rates_or_why_it_has_none() -> None:
    found = {quote.name: quote.facts() for quote in quotes(load_policy(EXAMPLE, KEYS, AT), AT)}
    assert list(found) == ["smollm2", "qwen3-8b", "gpt-mini", "gpt", "opus"]
    assert (found["smollm2"]["price"], found["smollm2"]["why"]) == (None, "measured by the gateway @0.20 USD/h")
    assert found["gpt"]["price"]["rates"]["output"] == "8.00"
    assert found["gpt"]["services"]["batch"]["rates"]["output"] == "4.00"
    assert found["opus"]["price"]["source"] == "policy"
    assert found["opus"]["services"] == {}


def test_the_dates_of_a_price_are_told() -> None:
    prices = "price: [{input: 1, output: 2, from: 2026-01-01}, {input: 3, output: 4, from: 2027-01-01}]"
    policy = read(SMALL.replace("price: {input: 1, output: 2.50}", prices, 1))
    quote = quotes(policy, AT)[1]
    assert (quote.facts()["since"], quote.facts()["until"]) == (
        "2026-01-01T00:00:00+00:00",
        "2027-01-01T00:00:00+00:00",
    )
    (before,) = [quote for quote in quotes(policy, datetime(2025, 1, 1, tzinfo=UTC)) if quote.name == "large"]
    assert (before.price, before.why) == (None, "it has no price")


def test_a_model_without_a_price_says_why() -> None:
    policy = read(EXAMPLE.read_text("utf-8").replace("gpt-4.1-mini", "gpt-9"), KEYS)
    assert quotes(policy, AT)[2].why == 'the price book has no price for "gpt-9" of "openai"'
