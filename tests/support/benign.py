"""Texts that only look sensitive: numbers, names and codes that identify nobody and open nothing."""

from collections.abc import Callable, Iterator, Mapping
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import Final
from uuid import UUID

BENIGN: Final = 1_000
"""Texts of each half."""


def _chars(chance: Random, letters: str, count: int) -> str:
    return "".join(chance.choice(letters) for _ in range(count))


_MAKERS: Final[Mapping[str, Callable[[Random], str]]] = {
    "order": lambda c: c.choice(
        [_chars(c, digits, 16), f"{_chars(c, digits, 3)}-{_chars(c, digits, 7)}-{_chars(c, digits, 7)}"]
    ),
    "invoice": lambda c: f"INV-{c.randint(2019, 2026)}-{c.randint(1, 99999):05d}",
    "uuid": lambda c: str(UUID(int=c.getrandbits(128), version=4)),
    "hash": lambda c: _chars(c, "0123456789abcdef", c.choice([7, 32, 40, 64])),
    "version": lambda c: f"v{c.randint(0, 12)}.{c.randint(0, 30)}.{c.randint(0, 200)}-rc{c.randint(1, 9)}",
    "isbn": lambda c: f"978-3-{_chars(c, digits, 2)}-{_chars(c, digits, 6)}-{_chars(c, digits, 1)}",
    "time": lambda c: (
        f"20{c.randint(10, 29)}-{c.randint(1, 12):02d}-{c.randint(1, 28):02d}T{c.randint(0, 23):02d}:15:30."
        f"{_chars(c, digits, 6)}Z"
    ),
    "epoch": lambda c: str(c.randint(1_400_000_000_000, 1_900_000_000_000)),
    "colour": lambda c: "#" + _chars(c, "0123456789abcdef", 6),
    "address": lambda c: ".".join(str(c.randint(0, 255)) for _ in range(4)) + f":{c.randint(1, 65535)}",
    "coordinates": lambda c: f"{c.uniform(-90, 90):.6f}, {c.uniform(-180, 180):.6f}",
    "product": lambda c: f"{_chars(c, ascii_uppercase, 2)}-{_chars(c, digits, 4)}-{_chars(c, ascii_uppercase, 1)}",
    "money": lambda c: f"{c.randint(1, 999)},{c.randint(100, 999)},{c.randint(100, 999)}.{c.randint(0, 99):02d} USD",
    "placeholder": lambda c: c.choice(
        [
            "sk-...",
            "your-api-key-here",
            "api_key: <YOUR_KEY>",
            "password: ********",
            "token = os.environ['TOKEN']",
            "Authorization: Bearer $TOKEN",
            "postgres://user:password@localhost/db",
            "password: string",
            "ghp_xxxxxxxxxxxx",
        ]
    ),
    "code": lambda c: c.choice(
        [
            "@app.route('/x')",
            "npm i react@18.2.0",
            "git@github.com:org/repo.git",
            "icon@2x.png",
            "def token(self): return self._token",
            "if password is None: raise",
            "user@localhost",
            "pip install a==1.2.3",
            "const key = getKey()",
            "x = y @ z.T",
        ]
    ),
    "sums": lambda c: f"{_chars(c, digits, 9)} + {_chars(c, digits, 9)} = ?",
    "range": lambda c: (
        f"pages {c.randint(100, 400)}-{c.randint(401, 900)}, {c.randint(1900, 1999)}-{c.randint(2000, 2030)}"
    ),
    "science": lambda c: f"{c.random():.15f}e-{c.randint(1, 30)}",
    "tracking": lambda c: f"1Z{_chars(c, ascii_uppercase + digits, 16)}",
    "words": lambda c: " ".join(_chars(c, ascii_lowercase, c.randint(2, 9)) for _ in range(8)),
    "mixed": lambda c: _chars(c, ascii_letters + digits, c.choice([8, 12, 22])),
}
_SENTENCES: Final[Mapping[str, tuple[str, ...]]] = {
    "tuned": (
        "What is {}?",
        "My order {} has not come.",
        "See {} in the log.",
        "Die Nummer {} fehlt.",
        "{}",
        "Fix {} please",
        "build {}",
    ),
    "held_out": (
        "Explain {} to me",
        "Where is {}?",
        "J'ai reçu {} hier.",
        "id={}",
        "error near {} again",
        "Bestellung {}",
        "about {}, why",
    ),
}


def benign(half: str) -> Iterator[tuple[str, str]]:
    """Yield the texts of a half, each with what it looks like."""
    chance = Random(f"{half} benign 1")
    makers = list(_MAKERS.items())
    for number in range(BENIGN):
        name, make = makers[number % len(makers)]
        yield name, chance.choice(_SENTENCES[half]).format(make(chance))
