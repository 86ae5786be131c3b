"""Prices in doubt: those that are missing, those that the price book has otherwise, and all of them when it is old."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.policy.pricing.checking import OLD_DAYS, check_prices
from governance.money import Nanodollars
from governance.prices import Price, Tariff
from governance.prices.book import newest_entry
from governance.prices.tariff import always
from tests.support.policy_texts import AT, EXAMPLE, KEYS, read

TEXT = EXAMPLE.read_text("utf-8")
STATED = "price: {input: 15.00, cached_input: 1.50, cache_write: 18.75, output: 75.00}"


def told(text: str, margin: int = 10, book: Price | None = None) -> list[str]:
    if book is None:
        report = check_prices(read(text, KEYS), AT, margin)
    else:
        found = always(book)
        report = check_prices(read(text, KEYS), AT, margin, lambda _seller, _model: found)
    return [str(doubt) for doubt in report.doubts]


def test_the_prices_of_the_example_are_in_order() -> None:
    report = check_prices(read(TEXT, KEYS), AT)
    assert report.facts()["ok"] is True
    assert report.lines() == [f"policy.yaml: prices are in order; the price book is of {report.book}"]


@pytest.mark.parametrize(
    ("rates", "margin", "doubts"),
    [
        ("input: 15.00, output: 75.00", 0, []),
        ("input: 16.00, output: 75.00", 10, []),
        ("input: 16.00, output: 75.00", 5, ["opus: input is 16.00 USD, and 15.00 in the price book"]),
        ("input: 13.00, output: 9", 10, ["opus: input is 13.00 USD, and 15.00 in the price book",
                                         "opus: output is 9.00 USD, and 75.00 in the price book"]),
    ],
)  # fmt: skip
def test_a_price_that_differs_by_more_than_the_margin_is_told(rates: str, margin: int, doubts: list[str]) -> None:
    assert told(TEXT.replace(STATED, f"price: {{{rates}}}"), margin) == doubts


def test_tiers_are_compared_at_every_size() -> None:
    rate = Nanodollars.parse
    long = Price(input=rate("30"), output=rate("75"), source="list above 9", above=9)
    book = Price(input=rate("15"), output=rate("75"), source="list", tiers=(long,))
    assert told(TEXT, book=book) == ["opus: input above 9 tokens is 15.00 USD, and 30.00 in the price book"]
    assert told(TEXT.replace("output: 75.00}", "output: 75.00, tiers: [{above: 9, input: 30}]}"), book=book) == []


def test_a_model_without_a_price_is_told_whether_it_is_refused_or_flagged() -> None:
    unknown = TEXT.replace("gpt-4.1-mini", "gpt-9")
    assert told(unknown) == ['gpt-mini: the price book has no price for "gpt-9" of "openai": the model is unavailable']
    flagged = unknown.replace("unknown_model: deny", "unknown_model: flag")
    assert told(flagged) == ["gpt-mini: has no price: it is flagged, and counted as opus"]


def test_a_model_that_the_book_gives_away_is_told() -> None:
    policy = read(TEXT, KEYS)
    free = Price(input=Nanodollars(0), output=Nanodollars(0), source="list")
    given = replace(policy, prices={**policy.prices, "gpt": free})
    assert [str(doubt) for doubt in check_prices(given, AT).doubts] == ["gpt: costs nothing by the price book"]


def test_an_old_book_is_told_where_a_price_comes_from_it() -> None:
    policy = read(TEXT, KEYS)
    later = AT + timedelta(days=10 * 365)
    age = (later.date() - newest_entry(later)).days
    assert age > OLD_DAYS
    doubts = [str(doubt) for doubt in check_prices(policy, later).doubts]
    assert doubts == [f"the price book has no price younger than {age} days: install a newer genai-prices"]
    stated = replace(policy, document=policy.document.model_copy(update={"models": policy.document.models[-1:]}))
    assert check_prices(stated, later).doubts == ()


def test_a_price_that_the_book_does_not_know_is_not_compared() -> None:
    def nothing(seller: str, model: str) -> Tariff | None:
        assert (seller, model) == ("anthropic", "claude-opus-4-1")

    assert check_prices(read(TEXT, KEYS), AT, 0, nothing).doubts == ()
