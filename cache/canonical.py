"""When two requests are the same: the fingerprint of a request body.

Everything in a body counts, known to us or not, except the few fields below that cannot change the answer. Guessing
the other way round, with a list of fields that count, would serve wrong answers the day a provider adds a field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256

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

MAX_DEPTH = 64
_EXACT_FLOAT = 2**53  # above it, floats no longer name every integer


def fingerprint(body: Mapping[str, object], *, partition: str, model_class: str, endpoint: str) -> bytes:
    """Digest a request so that equal digests mean equal requests of callers who share answers.

    Object order, `1` against `1.0` and how the text was escaped on the wire do not matter; the order of lists, types
    (`1` is neither `true` nor `"1"`), and every field outside `IGNORED` do.

    Args:
        body: The request as parsed from JSON.
        partition: The sharing group, from `cache.partition`.
        model_class: The model that would answer, or a name for models whose answers may stand for one another.
        endpoint: The path asked, as one body may mean different things on different paths.

    Returns:
        32 bytes (SHA-256).

    Raises:
        TooDeep: The body is nested more than `MAX_DEPTH` levels deep.
    """
    counted = {name: value for name, value in body.items() if name not in IGNORED}
    request = [endpoint, model_class, partition, _canonical(counted, MAX_DEPTH)]
    text = json.dumps(request, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    # JSON may carry half a surrogate pair, which strict UTF-8 has no bytes for.
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def _canonical(value: object, depth: int) -> object:
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= _EXACT_FLOAT else value
    if isinstance(value, str) or not isinstance(value, Mapping | Sequence):
        return value
    if depth == 0:
        raise TooDeep(MAX_DEPTH)
    if isinstance(value, Mapping):
        return {str(name): _canonical(item, depth - 1) for name, item in value.items()}
    return [_canonical(item, depth - 1) for item in value]
