"""Texts that carry a person's particulars: an answer to them must not be found by anyone else's question."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cache.detecting.reading import Reading

_EMAIL = re.compile(r"\b([\w.+-]{1,64})@([\w-]{1,63}(?:\.[\w-]{1,63})+)")
_NOBODY = re.compile(
    r"(?:no-?reply|support|info|help|contact|sales|admin|abuse|postmaster|hello|office|service|jobs|press"
    r"|user(?:name)?|name|you|me|someone|foo|test|example|git)\Z",
    re.IGNORECASE,
)
_CARD = re.compile(r"(?<![\d.])\d(?:[ -]?\d){12,18}(?![\d.])")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b")
_SOCIAL = re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")
_PHONE = re.compile(
    r"(?<![\w.])(?:\+\d{1,3}[ ./-]?(?:\(\d+\)[ ./-]?)?\d(?:[ ./-]?\d){6,12}|\(\d{3}\) ?\d{3}[ .-]?\d{4}"
    r"|0\d{2,4}[ /-]\d{3,4}[ -]?\d{3,5}|\d{3}-\d{3}-\d{4})(?![\w.])"
)
_REFERENCE = re.compile(
    r"\b(?:order|ticket|case|invoice|booking|reservation|account|acct|customer|client|member(?:ship)?|polic(?:y|e)"
    r"|claim|tracking|reference|ref|confirmation|parcel|shipment|vat|tax|employee|patient|passport|licen[cs]e"
    r"|case file|bestellung|auftrag|kunden|rechnung|vertrag|sendung|commande|facture|dossier|pedido|factura"
    r"|reserva)(?:s?nummer)?(?: (?:number|num|no\.?|nr\.?|id|code|file|n°|número|numéro))?(?: is| ist| est"
    r"| es)?\s*[:#]?\s*#?(?!(?:19|20)\d\d\b)(?=[A-Za-z-]*\d)[A-Za-z]{0,4}-?\d[\w-]{3,}\b",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b(?i:my (?:full |last |first |sur)?name is|mein name ist|ich heiße|je m'appelle|mon nom est|me llamo"
    r"|mi nombre es|(?:patient|employee|customer|client|tenant|student) (?:is |named |called )?(?:mr|mrs|ms"
    r"|dr)\.?)\s+[^\W\d_]{2,}|\b(?:I am|I'm|[Tt]his is|[Hh]ere is) (?:(?:Mr|Mrs|Ms"
    r"|Dr)\.? )?[A-Z][a-zà-ÿ]+ [A-Z][a-zà-ÿ]+\b(?! (?:is|was|not|a|an)\b)|\b(?i:i live at|my address is"
    r"|ich wohne in der|j'habite au|vivo en la calle) [\w .]{0,60}\d"
)
_DIGITS = re.compile(r"\d")
_FEWEST_DIGITS = 4
_END = 2_000  # characters: who writes says who they are at the start or at the end
_FEWEST_OF_A_CARD = 13


def spot(reading: Reading) -> str | None:
    """Say which particular the text carries, or None when it carries none."""
    text = reading.text if len(reading.text) <= 2 * _END else f"{reading.text[:_END]}\n{reading.text[-_END:]}"
    if "@" in text and any(_somebody(*found) for found in _EMAIL.findall(text)):
        return "an e-mail address"
    if _NAMED.search(text):
        return "a person's name or address"
    return _number(text) if len(_DIGITS.findall(text)) >= _FEWEST_DIGITS else None


def _number(text: str) -> str | None:
    if any(_is_card(found.group()) for found in _CARD.finditer(text)):
        return "a card number"
    if any(_is_iban(found.group()) for found in _IBAN.finditer(text)):
        return "a bank account"
    if _PHONE.search(text) or _SOCIAL.search(text):
        return "a telephone or social security number"
    return "the number of an order or a case" if _REFERENCE.search(text) else None


def _somebody(name: str, domain: str) -> bool:
    return not (domain.casefold().startswith(("example.", "domain.", "localhost")) or _NOBODY.match(name))


def _is_card(written: str) -> bool:
    """Tell whether the digits pass the check of Luhn (US patent 2,950,048), as every payment card's do."""
    digits = [int(digit) for digit in written if digit.isdigit()]
    if len(digits) < _FEWEST_OF_A_CARD or len(set(digits)) == 1:
        return False
    doubled = [sum(divmod(digit * 2, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_iban(written: str) -> bool:
    """Tell whether the check digits of ISO 13616 fit."""
    code = written.replace(" ", "")
    return int("".join(str(int(char, 36)) for char in code[4:] + code[:4])) % 97 == 1
