"""How numbers are worded for people: money, counts, shares, changes. Pure, and exact until the last rounding."""

from decimal import ROUND_HALF_UP, Decimal

from governance.money import Nanodollars

NOTHING = "\N{EN DASH}"
_CENT = Decimal("0.01")
_WHOLE_FROM = 1_000  # from here on cents are noise
_SIGNIFICANT = 3
_PLACES = 9
_ALL = Decimal(100)


def usd(amount: Nanodollars) -> str:
    """Word an amount for a person: `$17,024`, `$12.30`, `$0.0123`.

    Amounts below a dollar keep three significant digits: one answer of a small model costs millionths of a dollar.
    """
    value = Decimal(amount.nanos).scaleb(-_PLACES)
    sign, size = ("-" if value < 0 else ""), abs(value)
    if size >= _WHOLE_FROM:
        return f"{sign}${size.quantize(Decimal(1), ROUND_HALF_UP):,}"
    places = min(_PLACES, _SIGNIFICANT - 1 - size.adjusted())
    small = size.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    if 0 < small < 1:
        return f"{sign}${small:f}"
    return f"{sign}${size.quantize(_CENT, ROUND_HALF_UP):,}"


def axis_usd(amount: Nanodollars) -> str:
    """Word a tick of an axis as shortly as it can be said exactly: `$800`, `$1.5`, `$0.002`."""
    value = Decimal(amount.nanos).scaleb(-_PLACES).normalize()
    return f"${value:,f}"


def count(number: int) -> str:
    """Word a count in full: `1,234`."""
    return f"{number:,}"


def short_count(number: int) -> str:
    """Word a large count in three digits: `950`, `12.3k`, `4.56M`."""
    for size, unit in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if number >= size - size // 2000:  # what would round to 1000 of the smaller unit is one of this
            value = Decimal(number) / size
            places = max(0, min(2, _SIGNIFICANT - 1 - value.adjusted()))
            return f"{value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)}{unit}"
    return str(number)


def share(part: int, whole: int) -> str:
    """Word a part of a whole in percent; something small is never worded as nothing, nor nearly all as all."""
    if not whole:
        return NOTHING
    percent = (Decimal(100 * part) / whole).quantize(Decimal(1), ROUND_HALF_UP)
    if part and not percent:
        return "<1%"
    return "99%" if part < whole and percent == _ALL else f"{percent}%"


def change(now: int, before: int) -> str | None:
    """Word how a figure moved: `▲ 4.1%`, `▼ 12%`, `unchanged`; None when there is nothing to compare with."""
    if before <= 0:
        return None
    percent = Decimal(100 * (now - before)) / before
    if not percent:
        return "unchanged"
    size = abs(percent)
    worded = size.quantize(Decimal("0.1") if size.adjusted() < 1 else Decimal(1), ROUND_HALF_UP)
    return f"{'▲' if percent > 0 else '▼'} {worded:,}%"
