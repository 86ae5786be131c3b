"""The shape of prices: rates, tiers and dates, and the terms of a contract over list prices."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    PlainSerializer,
    PlainValidator,
    Tag,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from governance.money import ZERO
from governance.policy.fields import Percent, TokenRate
from governance.policy.sections import Count, Section
from governance.prices import RATES, Price

MOST_TIMES = 100
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"


def _day(value: object) -> date:
    if isinstance(value, date):
        return value
    try:
        if isinstance(value, str) and len(value) == len("2027-01-01"):
            return date.fromisoformat(value)
    except ValueError:
        pass
    raise PydanticCustomError("date", "should be a date, such as 2027-01-01")


def _times(value: object) -> Decimal:
    if isinstance(value, int | Decimal) and not isinstance(value, bool) and 0 < value <= MOST_TIMES:
        return Decimal(value)
    raise PydanticCustomError("times", "should be a number above 0, at most {most}", {"most": MOST_TIMES})


Day = Annotated[
    date,
    PlainValidator(_day),
    PlainSerializer(date.isoformat, return_type=str),
    WithJsonSchema({"type": "string", "pattern": f"^{_DAY}$"}),
]
"""A day of UTC, by which providers change their prices."""

Times = Annotated[
    Decimal,
    PlainValidator(_times),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": MOST_TIMES}),
]
"""What a price is multiplied by."""

Discount = Annotated[Percent, Field(lt=100), PlainSerializer(lambda share: f"{share}%", return_type=str)]
"""A percentage off; never all of it."""


class _Rates(Section):
    """USD per million tokens of each class; `tool_run` is USD per thousand calls of tools that the provider runs."""

    cached_input: TokenRate | None = None
    cache_write: TokenRate | None = None
    cache_write_1h: TokenRate | None = None
    audio_input: TokenRate | None = None
    cached_audio: TokenRate | None = None
    image_input: TokenRate | None = None
    output: TokenRate | None = None
    reasoning: TokenRate | None = None
    audio_output: TokenRate | None = None
    tool_run: TokenRate | None = None

    @property
    def stated(self) -> dict[str, Any]:
        """The rates that are written down."""
        return {name: rate for name in RATES if (rate := getattr(self, name)) is not None}


class TierSection(_Rates):
    """What holds for requests whose prompt has more than so many tokens; a rate that is absent stays as below.

    Attributes:
        above: Tokens of the whole prompt, cached ones included.
        input: As in `PriceSection`.
    """

    above: Count
    input: TokenRate | None = None


class PriceSection(_Rates):
    """Prices in USD per million tokens; a class without a rate is billed as input or output.

    Attributes:
        input: Tokens that no cache has.
        tiers: Other prices for long prompts.
        since: The first day (of UTC) on which these prices hold, written `from`; always when it is absent.
    """

    input: TokenRate
    tiers: tuple[TierSection, ...] = ()
    since: Day | None = Field(default=None, alias="from")

    @model_validator(mode="after")
    def _tiers_rise(self) -> Self:
        starts = [tier.above for tier in self.tiers]
        if any(later <= earlier for earlier, later in itertools.pairwise(starts)):
            raise PydanticCustomError("tiers", 'the tiers of a price should be in rising order of "above"')
        return self

    @property
    def begins(self) -> datetime | None:
        """The instant from which these prices hold."""
        return None if self.since is None else datetime(self.since.year, self.since.month, self.since.day, tzinfo=UTC)

    @property
    def price(self) -> Price:
        """What is written here, as a price."""
        source = "policy" if self.since is None else f"policy from {self.since}"
        rates: dict[str, Any] = {"output": ZERO} | self.stated
        tiers: list[Price] = []
        reached = rates
        for tier in self.tiers:
            reached = reached | tier.stated
            tiers.append(Price(**reached, source=f"{source} above {tier.above}", above=tier.above))
        return Price(**rates, source=source, tiers=tuple(tiers))


def _in_order(entries: tuple[PriceSection, ...]) -> tuple[PriceSection, ...]:
    dates = [entry.since or date.min for entry in entries]
    if any(later <= earlier for earlier, later in itertools.pairwise(dates)):
        raise PydanticCustomError("dates", 'should be in rising order of "from"; only the first may be without it')
    return entries


def _price_form(value: object) -> str:
    if isinstance(value, list | tuple):
        return "dated"
    return "rates" if isinstance(value, Mapping | PriceSection) else "source"


PriceRule = Annotated[
    Annotated[Literal["measured", "list"], Tag("source")]
    | Annotated[PriceSection, Tag("rates")]
    | Annotated[tuple[PriceSection, ...], Field(min_length=1), AfterValidator(_in_order), Tag("dated")],
    Discriminator(_price_form),
]
"""Where a price comes from: the machine's cost and its measured speed, the price book, or the policy itself."""


class Terms(Section):
    """What a contract changes.

    Attributes:
        discount: A percentage off the list prices.
        multiplier: What the list prices are multiplied by, in place of a discount.
        batch_discount: A percentage off the prices for tokens in a batch; without it the price book's batch prices
            hold, and prices that the policy states have none.
    """

    discount: Discount | None = None
    multiplier: Times | None = None
    batch_discount: Discount | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.discount is not None and self.multiplier is not None:
            raise PydanticCustomError("terms", "has a discount and a multiplier: write one of them")
        return self

    @property
    def factor(self) -> Fraction | None:
        """What list prices are multiplied by; None where nothing is said."""
        if self.discount is not None:
            return 1 - Fraction(self.discount, 100)
        return None if self.multiplier is None else Fraction(self.multiplier)

    @property
    def batch_factor(self) -> Fraction | None:
        """What a batch is multiplied by; None where nothing is said."""
        return None if self.batch_discount is None else 1 - Fraction(self.batch_discount, 100)
