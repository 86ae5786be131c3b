"""Payment cards: digits of a length and a beginning that issuers use, with the check digit of ISO/IEC 7812-1."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from stdnum import luhn

from governance.sensitivity.kinds.context import said, said_before

if TYPE_CHECKING:
    from collections.abc import Iterator

_DIGITS: Final = re.compile(r"(?<![\w])(?<!\d[.,])[2-6](?:[ \t.\-]{0,2}\d){11,24}(?![\d\w])")
_GROUP: Final = re.compile(r"\d+")
_ISSUERS: Final = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})"  # Visa
    r"|(?:5[1-5]\d{2}|222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}"  # Mastercard
    r"|3[47]\d{13}"  # American Express
    r"|(?:6011|64[4-9]\d|65\d{2})\d{12}"  # Discover
    r"|3(?:0[0-5]|[689]\d)\d{11}"  # Diners Club
    r"|35(?:2[89]|[3-8]\d)\d{12}"  # JCB
    r"|62\d{14,17}"  # UnionPay
    r"|(?:50|5[6-8]|6[0-9])\d{10,17}"  # Maestro
    r"|220[0-4]\d{12}"  # Mir
)
_SURE: Final = re.compile(r"4\d{15}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|6(?:011|5\d{2})\d{12}|35\d{14}|62\d{14}")
_WORDS: Final = re.compile(
    r"(?i)\bcards?\b|credit|debit|visa|master\s?card|amex|american express|maestro|discover|diners|\bjcb\b|unionpay"
    r"|\bpan\b|\bcvv|\bcvc|expir|\bexp\b|karte|kredit|carte|tarjeta|cart[aã]o|carta|kaart|karta|kort|карт|カード|卡"
)
_OTHERS: Final = re.compile(
    r"(?i)order|invoice|track|parcel|shipment|ticket|serial|\bimei|\bisbn|\bean\b|\bsku\b|\bref|\bbuild|timestamp"
    r"|\bid\b|\buuid|hash|version|seed|nonce|\bepoch|phone|\btel\b|account|bestell|rechnung|commande|pedido"
)


def find(text: str) -> Iterator[tuple[int, int]]:
    """Yield where cards are. What other words call by another name is none, unless it is written as cards are."""
    for match in _DIGITS.finditer(text):
        found = _within(match[0])
        if found is None:
            continue
        start, end = match.start() + found[0], match.start() + found[1]
        written = text[start:end]
        number = "".join(_GROUP.findall(written))
        grouped = re.fullmatch(r"\d{4}([ .\-])\d{4}\1\d{4}\1\d{4}|\d{4}([ .\-])\d{6}\2\d{5}", written) is not None
        if said(_WORDS, text, start, end) or (
            (grouped or _SURE.fullmatch(number)) and not said_before(_OTHERS, text, start)
        ):
            yield start, end


def _within(run: str) -> tuple[int, int] | None:
    """Return where in a run of digits a card's number is: from its start, to the end of one of its groups."""
    groups = list(_GROUP.finditer(run))
    number, best = "", None
    for group in groups:
        number += group[0]
        if _ISSUERS.fullmatch(number) and len(set(number)) > 1 and luhn.is_valid(number):
            best = (0, group.end())
    return best
