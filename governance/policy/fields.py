"""Fields of the policy that hold money and percentages: exact, and refused with a reason."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, PlainSerializer, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from governance.errors import NotMoney
from governance.money import Nanodollars

_PERCENT = re.compile(r"(100|[1-9][0-9]?)%")


def parse_dollars(value: object) -> Nanodollars:
    """Read an amount in dollars from a number of the policy.

    Raises:
        PydanticCustomError: It is no number, or no amount that nano-dollars can hold.
    """
    if isinstance(value, Nanodollars):
        return value
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise PydanticCustomError("dollars", "should be an amount in USD, written as a number such as 2.50")
    try:
        return Nanodollars.parse(value)
    except NotMoney as error:
        raise PydanticCustomError("dollars", "is no amount in USD: {why}", {"why": error.why}) from error


def parse_percent(value: object) -> int:
    """Read `85%` as 85.

    Raises:
        PydanticCustomError: It is no whole percentage from 1% to 100%.
    """
    match = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise PydanticCustomError("percent", "should be a percentage from 1% to 100%, such as 85%")
    return int(match[1])


def _above_zero(value: Nanodollars) -> Nanodollars:
    if value.nanos <= 0:
        raise PydanticCustomError("dollars", "should be more than 0")
    return value


_AS_TEXT = PlainSerializer(lambda amount: amount.usd, return_type=str)

Dollars = Annotated[
    Nanodollars, PlainValidator(parse_dollars), _AS_TEXT, WithJsonSchema({"type": "number", "minimum": 0})
]
"""An amount in USD, 0 or more."""

PositiveDollars = Annotated[
    Nanodollars,
    PlainValidator(parse_dollars),
    AfterValidator(_above_zero),
    _AS_TEXT,
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0}),
]
"""An amount in USD above 0."""

Percent = Annotated[
    int, BeforeValidator(parse_percent), WithJsonSchema({"type": "string", "pattern": f"^{_PERCENT.pattern}$"})
]
"""A whole percentage, written `85%`."""
