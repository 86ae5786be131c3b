"""Numbers, in figures or written out, and what they count: 1,000 is a thousand, and 5 kg is not 5 lb."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from cache.guards.words import terms

if TYPE_CHECKING:
    from cache.guards.words import Words

_SMALL = {
    word: value
    for value, word in enumerate(
        terms(
            """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
        )
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate(terms("twenty thirty forty fifty sixty seventy eighty ninety"), start=2)
}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "k": 1_000}
_ORDINALS = {
    word: value
    for value, word in enumerate(terms("third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"), start=3)
} | {"half": 0.5, "dozen": 12, "twice": 2, "double": 2, "thrice": 3, "triple": 3, "quarter": 0.25}
_FIGURES = re.compile(r"(\d+(?:[.,:/]\d+)*)([^\W\d_]*)")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_HALF_DAY = 12

_UNITS = {
    spelling: group.split()[0]
    for group in (
        "gbp £ pound pounds sterling quid lb lbs",
        "usd $ dollar dollars bucks",
        "eur € euro euros",
        "jpy ¥ yen",
        "chf franc francs",
        "inr rupee rupees",
        "% percent pct",
        "kb kilobyte kilobytes",
        "mb megabyte megabytes",
        "gb gigabyte gigabytes gig gigs",
        "tb terabyte terabytes",
        "mbps",
        "gbps",
        "g gram grams gramme grammes",
        "kg kilo kilos kilogram kilograms",
        "oz ounce ounces",
        "stone",
        "t ton tons tonne tonnes",
        "mm millimeter millimeters millimetre millimetres",
        "cm centimeter centimeters centimetre centimetres",
        "m meter meters metre metres",
        "km kilometer kilometers kilometre kilometres",
        "mile miles mi",
        "inch inches",
        "foot feet ft",
        "yard yards yd",
        "ml milliliter milliliters millilitre millilitres",
        "l liter liters litre litres",
        "gallon gallons",
        "pint pints",
        "cup cups",
        "celsius",
        "fahrenheit",
        "kelvin",
        "ms millisecond milliseconds",
        "second seconds sec secs",
        "minute minutes min mins",
        "hour hours hr hrs h",
        "day days night nights",
        "week weeks",
        "month months",
        "year years yr yrs",
        "w watt watts",
        "kw kilowatt kilowatts",
        "kwh",
        "v volt volts",
        "hz",
        "khz",
        "mhz",
        "ghz",
        "px pixel pixels",
        "mg milligram milligrams",
    )
    for spelling in group.split()
}
_MONEY = frozenset(("gbp", "usd", "eur", "jpy", "chf", "inr"))
_BARE = frozenset(("celsius", "fahrenheit", "kelvin", "kg", "km", "mile", "kwh")) | _MONEY
"""Units that say something without a number beside them."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of a question.

    Attributes:
        values: Each number, written shortest.
        counted: Each number with the unit after or before it.
        units: Units that are named at all, with a number or without.
        half: `am` or `pm`, whichever are said.
    """

    values: frozenset[str]
    counted: frozenset[tuple[str, str]]
    units: frozenset[str]
    half: frozenset[str]


def read(words: Words) -> Numbers:
    """Find the numbers of a question."""
    found: list[tuple[int, int, float | str, str]] = []  # from, to, value, what is attached to it
    half = _said_half(words.words)
    position = 0
    while position < len(words.words):
        end, value, attached = _number_at(words.words, position)
        if end == position:
            position += 1
            continue
        found.append((position, end, value, attached))
        half |= {attached} & {"am", "pm"}
        if isinstance(value, str) and ":" in value and int(value.split(":")[0]) > _HALF_DAY:
            half.add("pm")
        position = end
    counted = {(_shortest(value), unit) for at in found for value, unit in _counted(words.words, at)}
    units = {unit for _, unit in counted} | {_UNITS[word] for word in words.words if _UNITS.get(word) in _BARE}
    values = frozenset(_shortest(value) for _, _, value, _ in found)
    return Numbers(values, frozenset(counted), frozenset(units), frozenset(half))


def differ(a: Numbers, b: Numbers) -> bool:
    """Tell whether the questions name different numbers; a single one is often left out ("a year")."""
    return bool((a.values ^ b.values) - {"1"}) or bool(a.half and b.half and a.half != b.half)


def differ_in_unit(a: Numbers, b: Numbers) -> bool:
    """Tell whether the questions count the same numbers in other units, or name other currencies."""
    money = a.units & _MONEY, b.units & _MONEY
    if all(money) and money[0] != money[1]:
        return True
    for value in a.values & b.values:
        ours, theirs = ({unit for number, unit in side if number == value} for side in (a.counted, b.counted))
        if ours and theirs and ours != theirs:
            return True
    bare = a.units & _BARE, b.units & _BARE
    return all(bare) and not bare[0] & bare[1]


def _number_at(words: tuple[str, ...], start: int) -> tuple[int, float | str, str]:
    """Read one number from `start` on; where there is none, it ends where it starts."""
    match = _FIGURES.fullmatch(words[start])
    if match is not None:
        return _figures(words, start, match[1], match[2])
    total = current = 0.0
    end = start
    while end < len(words):
        word = words[end]
        if word in _SMALL:
            current += _SMALL[word]
        elif word in _TENS:
            current += _TENS[word]
        elif word in _SCALES and word != "k" and end > start:
            current *= _SCALES[word]
            total, current = (total + current, 0.0) if _SCALES[word] > 100 else (total, current)  # noqa: PLR2004
        else:
            break
        end += 1
    if end > start:
        return end, total + current, ""
    if words[start] in _ORDINALS:
        return start + 1, float(_ORDINALS[words[start]]), ""
    return start, 0.0, ""


def _figures(words: tuple[str, ...], start: int, figures: str, attached: str) -> tuple[int, float | str, str]:
    plain = figures.replace(",", "") if _THOUSANDS.fullmatch(figures) else figures
    if attached in {"st", "nd", "rd", "th"}:
        attached = ""
    end = start + 1
    try:
        value = float(plain)
    except ValueError:  # a clock time, a date, a version, a fraction
        return end, _clock(plain), attached
    if attached and attached not in _UNITS and attached not in _SCALES and attached not in {"am", "pm"}:
        return end, plain + attached, ""  # a version or a size: 6a is not 6
    scale = attached if attached in _SCALES else words[end] if not attached and end < len(words) else ""
    if scale in _SCALES:
        return end + (not attached), value * _SCALES[scale], ""
    return end, value, attached


def _clock(text: str) -> str:
    hour, colon, rest = text.partition(":")
    if not colon or not hour.isdigit() or ":" in rest:
        return text
    past = int(hour) % _HALF_DAY or _HALF_DAY
    return str(past) if rest == "00" else f"{past}:{rest}"


def _counted(words: tuple[str, ...], at: tuple[int, int, float | str, str]) -> list[tuple[float | str, str]]:
    start, end, value, attached = at
    beside = (attached, words[end] if end < len(words) and not attached else "", words[start - 1] if start else "")
    units = [_UNITS[word] for word in beside[:2] if word in _UNITS]
    units += [_UNITS[beside[2]]] if beside[2] in {"£", "$", "€", "¥"} else []
    return [(value, unit) for unit in units[:1]]


def _said_half(words: tuple[str, ...]) -> set[str]:
    halves: set[str] = set()
    for before, word in pairwise(("", *words)):
        if word in {"morning", "evening", "afternoon", "tonight"}:
            halves.add("am" if word == "morning" else "pm")
        elif word in {"am", "pm"} and before[:1].isdigit():
            halves.add(word)
    return halves


def _shortest(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.12g}"
