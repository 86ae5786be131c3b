"""Telephone numbers: what looks like one, and is one by the numbering plans (ITU-T E.164) that `phonenumbers` knows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import phonenumbers
from phonenumbers import NumberParseException

from governance.sensitivity.kinds.context import said_before

if TYPE_CHECKING:
    from collections.abc import Iterator

_ABROAD: Final = re.compile(r"(?<![\w+])(?:\+|00)\(?[1-9](?:[ \t.\-/()]{0,3}\d){6,16}(?![\w])")
_AT_HOME: Final = re.compile(r"(?<![\w.+/\-])\(?\d(?:[ \t.\-/()]{0,2}\d){6,13}(?![\w]|[.,:/-]\d)")
_WORDS: Final = re.compile(
    r"(?i)\btel|phone|\bcall|\bring\b|mobile|mobil|\bcell|\bfax|\bsms|\btext me|whatsapp|handy|ruf"
    r"|t[ée]l[ée]ph|portable"
    r"|m[oó]vil|celular|ll[aá]m|cellulare|chiam|bel\b|bel me|mobiel|telef|kom[oó]rk|zadzwo|puhelin|soita"
    r"|mobilnummer"
    r"|тел|звон|номер|电话|電話|手机|携帯|전화|फ़ोन|फोन|هاتف|reach me|dial|contact number"
)
_OTHERS: Final = re.compile(
    r"(?i)order|invoice|track|\bid\b|\bref|serial|version|build|\bisbn|\bsku|\bport\b|zip|postal|\bpin\b"
    r"|ticket|\bno\.?\s*$"
)
_REGIONS: Final = ("US", "GB", "DE", "FR", "ES", "IT", "NL", "PL", "BR", "IN", "JP", "CN", "RU", "SE", "MX", "AU", "CH")
_GROUPED: Final = re.compile(r"\(\d{3}\) ?\d{3}[-. ]\d{4}|\d{3}[-.]\d{3}[-.]\d{4}|0\d{1,4}[ /\-]\d[\d \-]{4,10}\d")
_ENOUGH: Final = re.compile(r"\d(?:\D{0,3}\d){6}")


def find(text: str) -> Iterator[tuple[int, int]]:
    """Yield where numbers are: international ones, and others where they are written or called like one."""
    for match in _ABROAD.finditer(text):
        number = "+" + match[0].lstrip("+0")
        if _is_one(number, None):
            yield match.start(), match.end()
    if _ENOUGH.search(text) is None:
        return
    for match in _AT_HOME.finditer(text):
        named = said_before(_WORDS, text, match.start(), 40)
        grouped = _GROUPED.fullmatch(match[0]) is not None and not said_before(_OTHERS, text, match.start())
        if (named or grouped) and any(_is_one(match[0], region) for region in _REGIONS):
            yield match.start(), match.end()


def _is_one(written: str, region: str | None) -> bool:
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(written, region))
    except NumberParseException:
        return False
