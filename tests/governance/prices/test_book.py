"""The public price book: dates, hours, tiers and services as providers bill them."""

from datetime import UTC, datetime, timedelta

import pytest

from governance.money import Nanodollars
from governance.prices import Service, cost_of
from governance.prices.book import list_tariff, newest_entry
from governance.prices.tariff import Tariff
from governance.prices.usage import Usage

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def usd(text: str) -> Nanodollars:
    return Nanodollars.parse(text)


def tariff(provider: str, model: str) -> Tariff:
    found = list_tariff(provider, model)
    assert found is not None
    return found


def test_the_book_knows_public_models() -> None:
    price = tariff("anthropic", "claude-opus-4-1").at(NOW)
    assert price is not None
    assert (price.input, price.output, price.cached_input) == (usd("15"), usd("75"), usd("1.5"))
    assert (price.cache_write, price.cache_write_1h, price.tool_run) == (usd("18.75"), usd("30"), usd("10"))
    assert price.source.startswith("list:genai-prices ")


def test_a_long_prompt_is_billed_at_its_tier_and_a_short_one_is_not() -> None:
    price = tariff("google", "gemini-2.5-pro").at(NOW)
    assert price is not None
    assert cost_of(Usage(200_000), price) == usd("0.25")
    assert cost_of(Usage(200_001), price) == usd("0.5000025")
    assert price.tiers[0].source.endswith(" above 200000")


def test_what_the_book_does_not_know_has_no_tariff() -> None:
    assert list_tariff("openai", "no-such-model") is None
    assert list_tariff("no-such-provider", "gpt-4.1") is None


def test_services_have_the_prices_of_the_book() -> None:
    gpt = tariff("openai", "gpt-5")
    batch, flex, priority = (gpt.at(NOW, service) for service in ("batch", "flex", "priority"))
    assert batch is not None
    assert flex is not None
    assert priority is not None
    assert (batch.output, flex.output, priority.output) == (usd("5"), usd("5"), usd("20"))
    assert [price.source.rpartition(" ")[2] for price in (batch, flex, priority)] == ["batch", "flex", "priority"]


def test_a_service_that_the_book_does_not_price_costs_the_standard_and_priority_is_not_to_be_had() -> None:
    opus = tariff("anthropic", "claude-opus-4-1")
    assert opus.at(NOW, "batch") == opus.at(NOW, "flex") == opus.at(NOW)
    assert opus.at(NOW, "priority") is None


def test_a_price_changes_with_the_hour_where_its_provider_has_hours() -> None:
    deepseek = tariff("deepseek", "deepseek-v4-flash")
    morning, noon = deepseek.at(NOW.replace(hour=8)), deepseek.at(NOW)
    assert morning is not None
    assert noon is not None
    assert morning.input.nanos == 2 * noon.input.nanos
    assert deepseek.span(NOW) == (NOW.replace(hour=10), NOW.replace(hour=1) + timedelta(days=1))


def test_a_new_price_holds_from_its_day() -> None:
    gpt = tariff("openai", "gpt-5")
    since = gpt.span(NOW).since
    assert since is not None
    assert gpt.at(since - timedelta(seconds=1), "batch") == gpt.at(since - timedelta(seconds=1))
    assert gpt.at(since, "batch") != gpt.at(since)


@pytest.mark.parametrize("service", ["standard", "batch", "flex", "priority"])
def test_every_price_of_the_book_can_be_read_and_holds_throughout_its_span(service: Service) -> None:
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415  late, as in the code under test

    known = 0
    for provider in get_snapshot().providers:
        for model in provider.models:
            found = list_tariff(provider.id, model.id)
            if found is None:
                continue  # its own name means another model
            since, until = found.span(NOW)
            price = found.at(NOW, service)
            known += price is not None
            assert since is None or found.at(since, service) == price
            assert until is None or found.at(until - timedelta(microseconds=1), service) == price
    assert known > (15 if service == "priority" else 500)


def test_the_book_is_as_old_as_its_newest_price() -> None:
    assert newest_entry(NOW) <= NOW.date()
    assert newest_entry(NOW).year >= 2026


def test_a_model_that_makes_what_is_not_counted_has_no_price() -> None:
    assert tariff("google", "gemini-2.5-flash-image").at(NOW) is None
    assert tariff("google", "gemini-2.5-flash").at(NOW) is not None


@pytest.mark.parametrize("model", ["gpt-4o-search-preview", "gpt-4o-mini-search-preview", "gpt-5-search-api"])
def test_a_model_that_searches_with_every_answer_has_no_list_price(model: str) -> None:
    assert list_tariff("openai", model) is None
