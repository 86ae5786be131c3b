from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboards.figures import NOTHING, axis_usd, change, count, share, short_count, usd
from governance.money import Nanodollars


@pytest.mark.parametrize(
    ("amount", "worded"),
    [
        ("0", "$0.00"),
        ("0.000000001", "$0.000000001"),
        ("0.000012345", "$0.0000123"),
        ("0.0123", "$0.0123"),
        ("0.5", "$0.500"),
        ("0.048", "$0.0480"),
        ("0.9994", "$0.999"),
        ("0.9999", "$1.00"),
        ("1", "$1.00"),
        ("12.345", "$12.35"),
        ("999.5", "$999.50"),
        ("1234.56", "$1,235"),
        ("17024.49", "$17,024"),
    ],
)
def test_an_amount_is_worded_with_the_precision_its_size_needs(amount: str, worded: str) -> None:
    assert usd(Nanodollars.parse(amount)) == worded


def test_a_difference_below_zero_keeps_its_sign_before_the_currency() -> None:
    assert usd(Nanodollars(-1_500_000_000)) == "-$1.50"


@given(st.integers(min_value=1, max_value=10**18))
def test_no_worded_amount_is_further_than_its_precision_from_the_truth(nanos: int) -> None:
    said = Decimal(usd(Nanodollars(nanos)).lstrip("$").replace(",", ""))
    assert abs(said - Decimal(nanos).scaleb(-9)) * 200 <= max(Decimal(nanos).scaleb(-9), Decimal(1))
    assert said > 0


@pytest.mark.parametrize(
    ("nanos", "worded"),
    [(0, "$0"), (800 * 10**9, "$800"), (15 * 10**8, "$1.5"), (25, "$0.000000025"), (10**13, "$10,000")],
)
def test_a_tick_is_exact_and_short(nanos: int, worded: str) -> None:
    assert axis_usd(Nanodollars(nanos)) == worded


@pytest.mark.parametrize(
    ("number", "worded"),
    [
        (0, "0"),
        (999, "999"),
        (1_000, "1.00k"),
        (12_345, "12.3k"),
        (999_499, "999k"),
        (4_560_000, "4.56M"),
        (10**9, "1.00B"),
    ],
)
def test_a_large_count_is_three_digits_and_a_unit(number: int, worded: str) -> None:
    assert short_count(number) == worded


def test_a_count_in_full_has_its_thousands_apart() -> None:
    assert count(1234567) == "1,234,567"


@pytest.mark.parametrize(
    ("part", "whole", "worded"),
    [(0, 0, NOTHING), (0, 10, "0%"), (1, 1000, "<1%"), (1, 3, "33%"), (999, 1000, "99%"), (10, 10, "100%")],
)
def test_a_share_never_words_some_as_none_nor_most_as_all(part: int, whole: int, worded: str) -> None:
    assert share(part, whole) == worded


@pytest.mark.parametrize(
    ("now", "before", "worded"),
    [(5, 0, None), (100, 100, "unchanged"), (1041, 1000, "▲ 4.1%"), (50, 100, "▼ 50%"), (3000, 100, "▲ 2,900%")],
)
def test_a_change_says_direction_and_size(now: int, before: int, worded: str | None) -> None:
    assert change(now, before) == worded
