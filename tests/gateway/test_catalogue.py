"""What a model costs at the instant of a request, however long the gateway has been running."""

from datetime import UTC, datetime

from gateway.catalogue import Catalogue, Model
from gateway.providers.absent import AbsentUpstream
from governance.money import Nanodollars
from governance.prices import Price
from governance.prices.book import list_tariff
from governance.prices.tariff import Dated, Stated
from tests.support.clocks import HandClock

NEW_YEAR = datetime(2027, 1, 1, tzinfo=UTC)


def price(dollars: int) -> Price:
    return Price(input=Nanodollars(dollars * 10**9), output=Nanodollars(dollars * 10**9), source="policy")


def test_a_running_gateway_follows_the_date_of_a_price() -> None:
    clock = HandClock(NEW_YEAR.timestamp() - 1)
    tariff = Stated((Dated(None, price(1)), Dated(NEW_YEAR, price(2))))
    model = Model("m", "cloud", "m-1", "cloud", "chat", tariff)
    catalogue = Catalogue([model], [], {"cloud": AbsentUpstream("cloud", "cloud", "")}, None, clock)
    assert catalogue.price(model) == price(1)
    clock.pass_on(1)
    assert catalogue.price(model) == price(2)
    assert catalogue.price(model, "batch") == price(2)
    assert catalogue.price(model, "priority") is None


def test_an_answer_costs_what_its_provider_says_that_it_was_served_as() -> None:
    book = list_tariff("openai", "gpt-5")
    model = Model("m", "cloud", "gpt-5", "cloud", "chat", book)
    catalogue = Catalogue([model], [], {"cloud": AbsentUpstream("cloud", "cloud", "")}, None, NEW_YEAR.timestamp)
    held = catalogue.price(model)
    assert held is not None
    assert catalogue.price_served(model, "standard", held) is held
    assert catalogue.price_served(model, "flex", held).output.nanos * 2 == held.output.nanos
    assert catalogue.price_served(model, "priority", held).source.endswith(" priority")
    plain = Model("n", "cloud", "n-1", "cloud", "chat", Stated((Dated(None, price(1)),)))
    without = Catalogue([plain], [], {"cloud": AbsentUpstream("cloud", "cloud", "")}, None, NEW_YEAR.timestamp)
    assert without.price_served(plain, "priority", price(1)) == price(1)


def test_a_model_becomes_available_when_its_first_price_begins() -> None:
    clock = HandClock(NEW_YEAR.timestamp() - 1)
    model = Model("m", "cloud", "m-1", "cloud", "chat", Stated((Dated(NEW_YEAR, price(2)),)))
    catalogue = Catalogue([model], [], {"cloud": AbsentUpstream("cloud", "cloud", "")}, None, clock)
    assert catalogue.unavailable_models() == {"m": "has no price"}
    clock.pass_on(1)
    assert catalogue.unavailable_models() == {}
