"""Money: whole nano-dollars, and nothing else.

A nano-dollar is 1e-9 USD. Prices are quoted per million tokens, so one token of the cheapest model still costs tens of
nano-dollars: integers are exact, and a 64-bit column holds nine billion dollars.
"""

import re
from decimal import Decimal
from typing import Final, Self

from msgspec import Struct

from governance.errors import NotMoney

NANOS_PER_DOLLAR: Final = 1_000_000_000
PLACES: Final = 9
MOST_DOLLARS: Final = 1_000_000_000
_TEXT = re.compile(r"[+-]?[0-9]{1,12}(\.[0-9]+)?")


class Nanodollars(Struct, frozen=True, order=True, gc=False):
    """An exact amount of money in nano-dollars; negative only as a difference of two amounts."""

    nanos: int

    @classmethod
    def parse(cls, value: str | int | Decimal, *, signed: bool = False) -> Self:
        """Read an amount of US dollars exactly.

        Args:
            value: Dollars as decimal text (`"12.30"`), a whole number or a `Decimal`.
            signed: Whether an amount below zero makes sense here.

        Raises:
            NotMoney: The value is a float or a bool, is not finite, has more than nine places, is below zero without
                `signed`, or is more than a billion dollars.
        """
        nanos = _scaled(value)
        if nanos < 0 and not signed:
            raise NotMoney(repr(value), "it is negative")
        return cls(nanos)

    @property
    def usd(self) -> str:
        """Decimal text in dollars with two to nine places and no exponent, such as `12.30` or `0.000001111`."""
        dollars, nanos = divmod(abs(self.nanos), NANOS_PER_DOLLAR)
        places = f"{nanos:09d}".rstrip("0").ljust(2, "0")
        return f"{'-' if self.nanos < 0 else ''}{dollars}.{places}"

    def __add__(self, other: "Nanodollars") -> "Nanodollars":
        return Nanodollars(self.nanos + other.nanos)

    def __sub__(self, other: "Nanodollars") -> "Nanodollars":
        return Nanodollars(self.nanos - other.nanos)

    def __str__(self) -> str:
        return self.usd


ZERO: Final = Nanodollars(0)


def _scaled(value: object) -> int:
    match value:
        case bool() | float():
            raise NotMoney(repr(value), f"a {type(value).__name__} is not exact")
        case int():
            amount = Decimal(value) if abs(value) <= MOST_DOLLARS else Decimal("Infinity")
        case str():
            if not _TEXT.fullmatch(value):
                raise NotMoney(repr(value)[:80], "write dollars as decimal digits")
            amount = Decimal(value)
        case Decimal():
            amount = value
        case _:
            raise NotMoney(repr(value)[:80], f"a {type(value).__name__} is no number")
    return _nanos(amount, repr(value)[:80])


def _nanos(amount: Decimal, text: str) -> int:
    sign, digits, exponent = amount.as_tuple()
    if not isinstance(exponent, int) or amount.adjusted() > PLACES or abs(amount) > MOST_DOLLARS:
        raise NotMoney(text, "it is not finite or more than a billion dollars")
    if exponent < -PLACES:
        raise NotMoney(text, f"it has more than {PLACES} places")
    # Built from the digits, because arithmetic on Decimal rounds to the precision of the caller's context.
    magnitude = int("".join(map(str, digits))) * 10 ** (exponent + PLACES)
    return -magnitude if sign else magnitude
