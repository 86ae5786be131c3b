"""When two requests are the same: the fingerprint of a request body.

Everything in a body counts, known to us or not, except the few fields below that cannot change the answer. Guessing
the other way round, with a list of fields that count, would serve wrong answers the day a provider adds a field.

Requests of megabytes come this way before any limit has been asked, so the work is left to compiled code: the body is
written again with sorted fields, and only a body that holds such a number as `1.0` is read and written once more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Final

import msgspec

from cache.errors import TooDeep

IGNORED = frozenset({
    "model",  # the caller of `fingerprint` says which models count as one
    "stream",
    "stream_options",
    "user",
    "metadata",
    "cache",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
})  # fmt: skip
"""Top-level fields that cannot change the answer: how it travels, who asked, where the provider keeps its prefix."""

_EXACT_FLOAT: Final = 2**53  # above it, floats no longer name every integer


def fingerprint(
    body: Mapping[str, object], *, partition: str, model_class: str, endpoint: str, epoch: str = ""
) -> bytes:
    """Digest a request so that equal digests mean equal requests of callers who share answers.

    Object order, `1` against `1.0` and how the text was escaped on the wire do not matter; the order of lists, types
    (`1` is neither `true` nor `"1"`), and every field outside `IGNORED` do.

    Args:
        body: The request as parsed from JSON; its texts hold no half of a surrogate pair, which has no UTF-8.
        partition: The sharing group, from `cache.partition`.
        model_class: The model that would answer, or a name for models whose answers may stand for one another.
        endpoint: The path asked, as one body may mean different things on different paths.
        epoch: Names what else shapes answers, from `cache.epoch`.

    Returns:
        32 bytes (SHA-256).

    Raises:
        TooDeep: The body is nested more deeply than the interpreter can follow.
    """
    counted = {name: value for name, value in body.items() if name not in IGNORED}
    try:
        text = _encode([endpoint, model_class, partition, epoch, counted])
        if _WHOLE_FLOAT.search(text):
            text = _encode(_NUMBERS_BY_VALUE.decode(text))
    except RecursionError:
        raise TooDeep from None
    return sha256(text).digest()


def _by_value(literal: str) -> int | float:
    number = float(literal)
    return int(number) if number.is_integer() and abs(number) <= _EXACT_FLOAT else number


_encode = msgspec.json.Encoder(order="sorted").encode
_NUMBERS_BY_VALUE = msgspec.json.Decoder(float_hook=_by_value)
_WHOLE_FLOAT = re.compile(rb"\.0[\],}]")
"""Where a float may stand that names an integer; in a text it is a false alarm, which costs only time."""
