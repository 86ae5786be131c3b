"""Made-up secrets and people, with real check digits, in sentences of many languages: what detectors must find.

Two halves, each from its own seed and its own sentences: `tuned`, which the detectors were improved on, and
`held_out`, of the same hand, which is only measured.
"""

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from random import Random
from string import ascii_letters, ascii_uppercase, digits, hexdigits
from typing import Any, Final
from urllib.parse import quote

import phonenumbers
from stdnum import iban, luhn, verhoeff
from stdnum.be import nn
from stdnum.br import cpf
from stdnum.ch import ssn as ahv
from stdnum.de import idnr
from stdnum.es import dni, nie
from stdnum.iso7064 import mod_11_2
from stdnum.it import codicefiscale
from stdnum.nl import bsn
from stdnum.pl import pesel

from governance.sensitivity.finding import Kind

HALVES: Final = ("tuned", "held_out")
PLANTED: Final = 250
"""Texts of each half."""


@dataclass(frozen=True, slots=True)
class Planted:
    """A request's body with one sensitive text in it.

    Attributes:
        kind: What it is.
        value: What was planted.
        field: Where in the body.
        encoding: How it was written there.
        body: The body.
    """

    kind: Kind
    value: str
    field: str
    encoding: str
    body: dict[str, Any]


def _chars(chance: Random, letters: str, count: int) -> str:
    return "".join(chance.choice(letters) for _ in range(count))


def _card(chance: Random) -> str:
    start, length = chance.choice(
        [("4", 16), ("51", 16), ("55", 16), ("2221", 16), ("37", 15), ("6011", 16), ("35", 16)]
    )
    if start == "35":
        start = "3530"
    body = start + _chars(chance, digits, length - len(start) - 1)
    number = body + luhn.calc_check_digit(body)
    if length == 15:
        return chance.choice([number, f"{number[:4]} {number[4:10]} {number[10:]}"])
    four = [number[place : place + 4] for place in range(0, 16, 4)]
    return chance.choice([number, " ".join(four), "-".join(four), "\u00a0".join(four)])


_ACCOUNTS: Final = {"DE": 18, "FR": 23, "NL": 14, "ES": 20, "IT": 23, "PL": 24, "CH": 17, "BE": 12, "AT": 16}


def _iban(chance: Random) -> str:
    while True:
        country = chance.choice(list(_ACCOUNTS))
        bank = _chars(chance, digits, _ACCOUNTS[country])
        if country == "NL":
            bank = _chars(chance, ascii_uppercase, 4) + bank[4:]
        if country == "IT":
            bank = chance.choice(ascii_uppercase) + bank[1:]
        digits_of = "".join(str(int(char, 36)) for char in f"{bank}{country}00")
        number = f"{country}{98 - int(digits_of) % 97:02d}{bank}"
        if iban.is_valid(number, check_country=False):
            return chance.choice([number, iban.format(number), number.lower()])


def _email(chance: Random) -> str:
    name = chance.choice(["anna.schmidt", "j.o'brien", "mueller+news", "li_wei88", "marie-claire", "иван", "josé", "x"])
    host = chance.choice(
        ["kontoor.de", "mail.corp.co.uk", "posteo.net", "firma.com.br", "xn--mnchen-3ya.de", "acme.io"]
    )
    written = f"{name}@{host}"
    if name.isascii() and chance.random() < 0.15:
        return written.replace("@", " (at) ").replace(".", " dot ")
    return written


_PHONES: Final = ("US", "GB", "DE", "FR", "ES", "IT", "NL", "PL", "BR", "IN", "JP", "SE")


def _phone(chance: Random) -> str:
    while True:
        region = chance.choice(_PHONES)
        example = phonenumbers.example_number_for_type(region, chance.choice([0, 1]))
        if example is None:
            continue
        text = str(example.national_number)
        number = phonenumbers.PhoneNumber(example.country_code, int(text[:-4] + _chars(chance, "123456789", 4)))
        if phonenumbers.is_valid_number(number):
            return phonenumbers.format_number(number, chance.choice([0, 1, 1, 2]))


def _drawn(make: Callable[[], str], valid: Callable[[str], bool]) -> str:
    while True:
        number = make()
        if valid(number):
            return number


def _national_id(chance: Random) -> str:
    def of(count: int) -> Callable[[], str]:
        return lambda: _chars(chance, digits, count)

    day = f"{chance.randint(40, 99):02d}{chance.randint(1, 12):02d}{chance.randint(1, 28):02d}"
    born = f"{day[4:]}{day[2:4]}{day[:2]}"
    letters = "0123456789ABCDEFHJKLMNPRSTUVWXY"
    nine = _chars(chance, digits, 11)
    makers: Mapping[str, Callable[[], str]] = {
        "us": lambda: f"{chance.randint(1, 665):03d}-{chance.randint(1, 99):02d}-{chance.randint(1, 9999):04d}",
        "gb": lambda: f"{chance.choice('ABCEHJ')}{chance.choice('ABCEHJ')} {_chars(chance, digits, 2)} 34 56 C",
        "de": lambda: _drawn(of(11), idnr.is_valid),
        "fr": lambda: (body := f"1{day[:4]}75{_chars(chance, digits, 6)}") + f"{97 - int(body) % 97:02d}",
        "es": lambda: (body := _chars(chance, digits, 8)) + dni.calc_check_digit(body),
        "es2": lambda: (body := "X" + _chars(chance, digits, 7)) + nie.calc_check_digit(body),
        "it": lambda: (body := f"RSSMRA{day[:2]}A{day[4:]}H501") + codicefiscale.calc_check_digit(body),
        "nl": lambda: _drawn(of(9), bsn.is_valid),
        "pl": lambda: (body := day + _chars(chance, digits, 4)) + pesel.calc_check_digit(body),
        "be": lambda: nn.format(_drawn(lambda: day + _chars(chance, digits, 5), nn.is_valid)),
        "se": lambda: (body := day + _chars(chance, digits, 3))[:6] + "-" + body[6:] + luhn.calc_check_digit(body),
        "fi": lambda: (body := f"{born}{chance.randint(2, 899):03d}")[:6] + "-" + body[6:] + letters[int(body) % 31],
        "ch": lambda: ahv.format((body := "756" + nine[:9]) + _ean(body)),
        "br": lambda: cpf.format((body := nine[:9]) + cpf._calc_check_digits(body)),  # pyright: ignore[reportAttributeAccessIssue]
        "in": lambda: (body := "4" + nine[:10]) + verhoeff.calc_check_digit(body),
        "cn": lambda: (body := f"11010519{day}{nine[:3]}") + mod_11_2.calc_check_digit(body),
    }
    return makers[chance.choice(list(makers))]()


def _ean(body: str) -> str:
    return str(-sum(int(n) * (3 if place % 2 else 1) for place, n in enumerate(body)) % 10)


def _secret(chance: Random) -> str:
    alnum, hexes = ascii_letters + digits, hexdigits.lower()[:16]
    makers = [
        lambda: "AKIA" + _chars(chance, ascii_uppercase + digits, 16),
        lambda: "ghp_" + _chars(chance, alnum, 36),
        lambda: "glpat-" + _chars(chance, alnum, 20),
        lambda: f"xoxb-{_chars(chance, digits, 12)}-{_chars(chance, alnum, 24)}",
        lambda: "sk_live_" + _chars(chance, alnum, 24),
        lambda: "sk-proj-" + _chars(chance, alnum, 48) + "7",
        lambda: "sk-ant-api03-" + _chars(chance, alnum, 60),
        lambda: "AIza" + _chars(chance, alnum, 35),
        lambda: "hf_" + _chars(chance, ascii_letters, 34),
        lambda: f"SG.{_chars(chance, alnum, 22)}.{_chars(chance, alnum, 43)}",
        lambda: "SK" + _chars(chance, hexes, 32),
        lambda: f"eyJhbGciOiJIUzI1NiJ9.eyJ{_chars(chance, alnum, 30)}.{_chars(chance, alnum, 43)}",
        lambda: f"postgres://app:{_chars(chance, alnum, 14)}@db.internal:5432/main",
        lambda: f"password: {chance.choice(['Tr0ub4dor', 'Sommer2019', 'qW3rty'])}{_chars(chance, alnum, 5)}!7",
        lambda: f"Passwort: {_chars(chance, alnum, 10)}7x",
        lambda: f"api_key={_chars(chance, hexes, 32)}4",
        lambda: f"Authorization: Bearer {_chars(chance, alnum, 40)}9",
        lambda: f"contraseña: {_chars(chance, alnum, 11)}5",
        lambda: f"AccountKey={_chars(chance, alnum + '+/', 86)}==",
    ]
    return chance.choice(makers)()


def _private_key(chance: Random) -> str:
    material = [_chars(chance, ascii_letters + digits + "+/", 64) for _ in range(6)]
    title = chance.choice(["RSA ", "", "EC ", "OPENSSH ", "ENCRYPTED "])
    return f"-----BEGIN {title}PRIVATE KEY-----\n" + "\n".join(material) + f"\n-----END {title}PRIVATE KEY-----"


MAKERS: Final[Mapping[Kind, Callable[[Random], str]]] = {
    "card": _card,
    "iban": _iban,
    "email": _email,
    "phone": _phone,
    "national_id": _national_id,
    "secret": _secret,
    "private_key": _private_key,
}

SENTENCES: Final[Mapping[str, Mapping[Kind, tuple[str, ...]]]] = {
    "tuned": {
        "card": (
            "Charge my card {} please.",
            "Meine Kreditkarte ist {}.",
            "Voici ma carte : {}",
            "Mi tarjeta es {}",
            "{}",
        ),
        "iban": ("Transfer it to {} today.", "Bitte auf {} überweisen.", "Mon compte: {}.", "IBAN {}", "账户 {}"),
        "email": ("Write to {} about it.", "Schreib an {}!", "Escríbeme a {}.", "Пиши на {}", "メールは {} です"),
        "phone": ("Call me at {}.", "Ruf an: {}", "Mon téléphone : {}", "Llámame al {}", "Телефон {}", "电话 {}"),
        "national_id": (
            "My national id number is {}.",
            "Meine Steuer-ID lautet {}",
            "Mon numéro de sécurité sociale: {}",
            "Mi DNI es {}",
            "Il mio codice fiscale è {}",
            "身份证 {}",
        ),
        "secret": ("Use this: {}", "Hier ist es: {}", "config:\n  {}\n", "J'utilise {} pour ça", "{}"),
        "private_key": ("Why is this refused?\n{}", "{}", "ключ:\n{}\nспасибо"),
    },
    "held_out": {
        "card": (
            "can you refund visa {}?",
            "Número do cartão: {}",
            "Mijn creditcard: {}",
            "Карта {}",
            "pay with {} thx",
        ),
        "iban": ("my account number is {}", "Rekening {}", "Conta {} por favor", "Konto: {}", "{}"),
        "email": ("cc {} and me", "Mijn adres is {}", "contato: {}", "邮箱 {}", "<{}>"),
        "phone": ("my number is {}, ring any time", "Bel me op {}", "Meu celular: {}", "手机 {}", "cell {}"),
        "national_id": (
            "Applicant's identity number: {}",
            "BSN of personnummer: {}",
            "Numer PESEL lub CPF: {}",
            "Ausweis, Identifikationsnummer {}",
            "Aadhaar / tax id {}",
        ),
        "secret": ("does this look right? {}", "Mijn instelling: {}", "export X; {}", "log: {} (rotated?)", "見て {}"),
        "private_key": ("ssh says no:\n{}", "cert.pem\n{}\n", "chave:\n{}"),
    },
}

_ENCODINGS: Final[Mapping[str, Callable[[str], str]]] = {
    "plain": lambda text: text,
    "percent": quote,
    "html": lambda text: escape(text).replace("@", "&#64;").replace("-", "&#x2d;"),
    "json": json.dumps,
    "base64": lambda text: b64encode(text.encode()).decode(),
    "wide": lambda text: text.translate({ord(n): ord(n) + 0xFEE0 for n in digits}),
    "zero width": lambda text: "\u200b".join(text) if len(text) < 60 else text.replace(" ", "\u200b "),
    "hex": lambda text: text.encode().hex(),
}

FIELDS: Final[Mapping[str, Callable[[str], dict[str, Any]]]] = {
    "user": lambda text: {"messages": [{"role": "user", "content": text}]},
    "part": lambda text: {"messages": [{"role": "user", "content": [{"type": "text", "text": text}]}]},
    "system": lambda text: {"messages": [{"role": "system", "content": text}, {"role": "user", "content": "Go on."}]},
    "arguments": lambda text: {"messages": [_call(json.dumps({"query": text}))]},
    "result": lambda text: {"messages": [{"role": "tool", "tool_call_id": "c", "content": text}]},
    "schema": lambda text: {"tools": [{"type": "function", "function": {"name": "f", "description": text}}]},
    "metadata": lambda text: {"metadata": {"note": text}, "messages": []},
    "document": lambda text: {"messages": [{"role": "user", "content": [_file(text)]}]},
}


def _call(arguments: str) -> dict[str, Any]:
    call = {"id": "c", "type": "function", "function": {"name": "search", "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _file(text: str) -> dict[str, Any]:
    data = f"data:text/plain;base64,{b64encode(text.encode()).decode()}"
    return {"type": "file", "file": {"filename": "notes.txt", "file_data": data}}


def planted(half: str) -> Iterator[Planted]:
    """Yield the texts of a half: every kind as often as the others, fields in turn, every third one encoded."""
    chance = Random(f"{half} 1")
    kinds, fields, encodings = list(MAKERS), list(FIELDS), list(_ENCODINGS)
    for number in range(PLANTED):
        kind = kinds[number % len(kinds)]
        value = MAKERS[kind](chance)
        said = chance.choice(SENTENCES[half][kind]).format(value)
        encoding = chance.choice(encodings[1:]) if number % 3 == 0 else "plain"
        field = fields[(number // len(kinds)) % len(fields)]
        yield Planted(kind, value, field, encoding, FIELDS[field](_ENCODINGS[encoding](said)))
