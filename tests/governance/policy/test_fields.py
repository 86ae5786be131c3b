from decimal import Decimal

import pytest
from pydantic import BaseModel, ValidationError

from governance.money import Nanodollars
from governance.policy.fields import Dollars, Percent, PositiveDollars


class Fields(BaseModel):
    any: Dollars = Nanodollars(0)
    positive: PositiveDollars = Nanodollars(1)
    percent: Percent = 1


@pytest.mark.parametrize(
    ("value", "nanos"),
    [
        (0, 0),
        (10_000, 10_000 * 10**9),
        (Decimal("2.50"), 2_500_000_000),
        (Decimal("0.000000001"), 1),
        (Nanodollars(7), 7),
    ],
)
def test_an_amount_is_exact(value: object, nanos: int) -> None:
    assert Fields.model_validate({"any": value}).any == Nanodollars(nanos)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("2.50", "written as a number"),
        (2.5, "written as a number"),
        (True, "written as a number"),
        (None, "written as a number"),
        (-1, "negative"),
        (Decimal("0.0000000001"), "more than 9 places"),
        (Decimal("1e99"), "more than a billion"),
    ],
)
def test_what_is_no_amount_is_refused_with_the_reason(value: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Fields.model_validate({"any": value})


def test_an_amount_that_must_be_positive_is_more_than_nothing() -> None:
    with pytest.raises(ValidationError, match="more than 0"):
        Fields.model_validate({"positive": 0})


def test_an_amount_is_written_out_as_decimal_text() -> None:
    assert Fields.model_validate({"any": Decimal("12.30")}).model_dump()["any"] == "12.30"


@pytest.mark.parametrize(("text", "percent"), [("1%", 1), ("85%", 85), ("100%", 100)])
def test_a_percentage_is_whole(text: str, percent: int) -> None:
    assert Fields.model_validate({"percent": text}).percent == percent


@pytest.mark.parametrize("value", ["0%", "101%", "85", "8.5%", "085%", 90, " 85%", "85 %"])
def test_what_is_no_percentage_is_refused(value: object) -> None:
    with pytest.raises(ValidationError, match="1% to 100%"):
        Fields.model_validate({"percent": value})
