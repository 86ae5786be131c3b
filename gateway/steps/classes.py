"""Which classes of tokens a request may use: a hold for plain text needs no room for the rates of sound."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from governance.prices import TEXT

_ANY_MEDIUM: Final = ("image_input", "audio_input", "audio_read")
"""What is in a file only its provider knows."""

_SIGNS: Final[tuple[tuple[bytes, tuple[str, ...]], ...]] = (
    (b'"1h"', ("cache_write_1h",)),
    (b':"image', ("image_input",)),
    (b':"file', _ANY_MEDIUM),
    (b':"document"', _ANY_MEDIUM),
    (b'audio"', ("audio_input", "audio_read", "audio_output")),
)
"""What stands in every request that uses a class, as a name or a word of its JSON; a text can only seem to have it."""


def classes_of(body: Mapping[str, Any]) -> frozenset[str]:
    """Return the classes of `governance.prices.Usage` that a chat may use, or more than those."""
    text = msgspec.json.encode(body)
    return frozenset(TEXT).union(*(classes for sign, classes in _SIGNS if sign in text))
