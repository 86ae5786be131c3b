"""The wall around a question: everything about a request that is not its last turn, as one digest.

Two questions are compared only when their scopes are equal. A scope holds who shares answers, the feature, the model
class, the knowledge it was answered from, and the whole request but for the words of its last turn: instructions,
tools, schema, sampling, and every earlier turn. A neighbour from elsewhere cannot be seen, whatever it says.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

from cache.canonical import fingerprint

if TYPE_CHECKING:
    from cache.semantic.question import Question


def scope_of(
    question: Question,
    *,
    partition: str,
    feature: str,
    model_class: str,
    endpoint: str,
    epoch: str,
    zone: str | None = None,
) -> bytes:
    """Digest everything that must be equal before two questions are compared.

    Args:
        question: The question, and the request around it.
        partition: The sharing group, from `cache.partition`.
        feature: The feature it belongs to.
        model_class: As for `cache.canonical.fingerprint`.
        endpoint: The path asked.
        epoch: Names what else shapes answers, from `cache.epoch`.
        zone: Where the request wants to be answered: what may not leave a zone is not compared, and so not shown to a
            judge, for one that may.

    Returns:
        32 bytes (SHA-256).

    Raises:
        TooDeep: The request is nested more deeply than the interpreter can follow.
    """
    group = json.dumps(["semantic", partition, feature, zone])
    return fingerprint(question.rest, partition=group, model_class=model_class, endpoint=endpoint, epoch=epoch)


def entry_of(scope: bytes, text: str) -> bytes:
    """Name the stored answer to a question within its scope: 32 bytes."""
    return sha256(scope + text.encode()).digest()
