"""Bank accounts by ISO 13616: a country, two check digits modulo 97, and an account of that country's length."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from stdnum import iban

if TYPE_CHECKING:
    from collections.abc import Iterator

_RUN: Final = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}[ \-]?\d[ \-]?\d(?:[ \-.]?[A-Za-z0-9]){11,36}")
_GROUP: Final = re.compile(r"[A-Za-z0-9]+")


def find(text: str) -> Iterator[tuple[int, int]]:
    """Yield where accounts are."""
    for match in _RUN.finditer(text):
        number, end = "", 0  # banks' own check digits beside these are not asked for: some have changed
        for group in _GROUP.finditer(match[0]):
            number += group[0]
            if len(number) <= _LONGEST and iban.is_valid(number, check_country=False):
                end = group.end()
        if end:
            yield match.start(), match.start() + end


_LONGEST: Final = 34
