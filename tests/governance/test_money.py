"""Money is exact or it is refused."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.errors import NotMoney
from governance.money import MOST_DOLLARS, NANOS_PER_DOLLAR, ZERO, Nanodollars

amounts = st.integers(min_value=-MOST_DOLLARS * NANOS_PER_DOLLAR, max_value=MOST_DOLLARS * NANOS_PER_DOLLAR)


@given(amounts)
def test_text_reads_back_as_the_same_amount(nanos: int) -> None:
    money = Nanodollars(nanos)
    assert Nanodollars.parse(money.usd, signed=True) == money
    assert Decimal(money.usd) == Decimal(nanos).scaleb(-9)


@given(amounts)
def test_text_has_two_to_nine_places_and_no_exponent(nanos: int) -> None:
    places = Nanodollars(nanos).usd.partition(".")[2]
    assert 2 <= len(places) <= 9
    assert places.isdigit()


@pytest.mark.parametrize(
    ("value", "usd"),
    [
        ("0", "0.00"),
        ("12.3", "12.30"),
        ("0.000001111", "0.000001111"),
        (10000, "10000.00"),
        (Decimal("2.50"), "2.50"),
        (Decimal("1E+2"), "100.00"),
        ("-0", "0.00"),
        ("+1.10", "1.10"),
        (10**9, "1000000000.00"),
    ],
)
def test_exact_amounts_are_read(value: str | int | Decimal, usd: str) -> None:
    assert Nanodollars.parse(value).usd == usd


@pytest.mark.parametrize(
    "value",
    [
        0.1,
        True,
        None,
        "",
        " 1",
        "1e3",
        "1_000",
        "1,5",
        "٣",
        ".5",
        "5.",
        "NaN",
        "Infinity",
        "0.0000000001",
        "1000000000.000000001",
        "9" * 100,
        10**30,
        -1,
        "-0.01",
        Decimal("NaN"),
        Decimal("-Infinity"),
        Decimal("1E+999999"),
        Decimal("1E-10"),
        Decimal("0E+999999"),
        b"1",
    ],
)
def test_anything_else_is_not_money(value: object) -> None:
    with pytest.raises(NotMoney):
        Nanodollars.parse(value)  # pyright: ignore[reportArgumentType]  wrong types are the point


def test_a_difference_may_be_negative_when_asked_for() -> None:
    assert Nanodollars.parse("-0.01", signed=True) == ZERO - Nanodollars.parse("0.01")
    assert (ZERO - Nanodollars(5)).usd == "-0.000000005"


def test_amounts_add_up_and_compare() -> None:
    cent = Nanodollars.parse("0.01")
    assert sum([cent, cent, cent], ZERO) == Nanodollars.parse("0.03")
    assert max(cent, ZERO) == cent
    assert str(cent) == "0.01"


def test_a_refusal_says_what_was_written_and_why() -> None:
    with pytest.raises(NotMoney) as refusal:
        Nanodollars.parse("1e3")
    assert refusal.value.text == "'1e3'"
    assert "digits" in refusal.value.why
