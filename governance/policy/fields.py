"""What sections of the policy are made of: fields that hold money and percentages, exact and refused with a reason."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from governance.errors import NotMoney
from governance.money import NANOS_PER_DOLLAR, Nanodollars
from governance.prices import DEAREST
from governance.windows import SESSION, Rolling, Span, WindowKind

_PERCENT = re.compile(r"(100|[1-9][0-9]?)%")
_LAST = re.compile(r"([1-9][0-9]{0,4})([mhd])")
_UNIT_S = {"m": 60, "h": 3_600, "d": 86_400}
_LONGEST_S = 366 * 86_400
_KINDS = tuple(kind.value for kind in WindowKind)

Count = Annotated[int, Field(strict=True, gt=0)]
Flag = Annotated[bool, Field(strict=True)]


class Section(BaseModel):
    """A part of the document: fixed once read, and with no room for fields that do not exist."""

    model_config = ConfigDict(frozen=True, extra="forbid")


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


def parse_span(value: object) -> Span:
    """Read what a budget runs over: a part of the calendar, `session`, or the last so many minutes, hours or days.

    Raises:
        PydanticCustomError: It is none of these.
    """
    if isinstance(value, WindowKind | Rolling):
        return value
    if value in _KINDS:
        return WindowKind(value)
    if value == SESSION.name:
        return SESSION
    match = _LAST.fullmatch(value) if isinstance(value, str) else None
    seconds = int(match[1]) * _UNIT_S[match[2]] if match else 0
    if not 0 < seconds <= _LONGEST_S:
        kinds = ", ".join(f"'{kind}'" for kind in _KINDS)
        raise PydanticCustomError(
            "window", "should be {kinds}, 'session', or the last so long, such as 24h or 7d", {"kinds": kinds}
        )
    return Rolling(seconds)


def _above_zero(value: Nanodollars) -> Nanodollars:
    if value.nanos <= 0:
        raise PydanticCustomError("dollars", "should be more than 0")
    return value


def _a_rate(value: Nanodollars) -> Nanodollars:
    if value > DEAREST:
        raise PydanticCustomError(
            "rate", "should be USD for a million tokens, at most {most}", {"most": DEAREST.nanos // NANOS_PER_DOLLAR}
        )
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

TokenRate = Annotated[
    Nanodollars,
    PlainValidator(parse_dollars),
    AfterValidator(_a_rate),
    _AS_TEXT,
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": DEAREST.nanos // NANOS_PER_DOLLAR}),
]
"""A price in USD for a million tokens, 0 or more."""

Percent = Annotated[
    int, BeforeValidator(parse_percent), WithJsonSchema({"type": "string", "pattern": f"^{_PERCENT.pattern}$"})
]
"""A whole percentage, written `85%`."""

Window = Annotated[
    Span,
    PlainValidator(parse_span),
    PlainSerializer(lambda span: span.value, return_type=str),
    WithJsonSchema(
        {
            "description": (
                "A part of the calendar in the policy's time zone; `session`, for each session of its own; or the last "
                "so many minutes, hours or days, rolling."
            ),
            "anyOf": [
                {"type": "string", "enum": [*_KINDS, SESSION.name]},
                {"type": "string", "pattern": f"^{_LAST.pattern}$", "examples": ["24h", "7d"]},
            ],
        }
    ),
]
"""What a budget runs over."""
