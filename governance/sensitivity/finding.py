"""What is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

Kind = Literal["email", "phone", "card", "iban", "national_id", "secret", "private_key"]
"""A kind of sensitive text."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One piece of sensitive text: what it is and where, as characters of the text it was found in."""

    start: int
    end: int
    kind: Kind
