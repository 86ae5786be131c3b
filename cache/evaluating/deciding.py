"""Each pair through the decision that a request goes through: scope, detectors, embedding, guards, verifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cache.canonical import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cache.embedding import Reading, TokenEmbedding
    from cache.evaluating.labelled import Asked, LabelledPair
    from cache.verifying.verifier import Verifier

_BATCH = 16
NEVER = -1.0
"""The score of what is not served at any setting."""


@dataclass(frozen=True, slots=True)
class Decided:
    """What was made of a pair.

    Attributes:
        pair: The pair.
        score: The probability that the answer is right, or `NEVER`.
        similarity: The cosine of the two last turns, for comparison, whatever the scope.
        stopped_by: What forbids it: `scope`, `unconfirmed` (earlier turns, and no judge here), `ineligible`, or a
            guard; empty when nothing does.
    """

    pair: LabelledPair
    score: float
    similarity: float
    stopped_by: str = ""


async def decide(
    pairs: Sequence[LabelledPair],
    embedding: TokenEmbedding,
    verifier: Verifier,
    is_eligible: Callable[[str], bool],
    progress: Callable[[int], None],
) -> list[Decided]:
    """Put pairs through the decision.

    Args:
        pairs: What is asked.
        embedding: Where similarity comes from.
        verifier: What judges it.
        is_eligible: Whether a question may be answered from the cache at all.
        progress: Told how many more pairs are decided.
    """
    texts = sorted({text for pair in pairs for text in (_text(pair.a), _text(pair.b))}, key=len)
    read: dict[str, Reading] = {}
    for at in range(0, len(texts), _BATCH):
        batch = texts[at : at + _BATCH]
        read |= zip(batch, await embedding.read(batch), strict=True)
        progress(len(batch))
    return [_decided(pair, read, verifier, is_eligible) for pair in pairs]


def _decided(
    pair: LabelledPair, read: dict[str, Reading], verifier: Verifier, is_eligible: Callable[[str], bool]
) -> Decided:
    a, b = read[_text(pair.a)], read[_text(pair.b)]
    similarity = float(np.dot(a.vector, b.vector))
    if not may_share(pair.a, pair.b):
        return Decided(pair, NEVER, similarity, "scope")
    if _needs_judge(pair.a):
        return Decided(pair, NEVER, similarity, "unconfirmed")
    if not (is_eligible(_text(pair.a)) and is_eligible(_text(pair.b))):
        return Decided(pair, NEVER, similarity, "ineligible")
    stored, asked = (verifier.question(_text(one), verifier.mark(found)) for one, found in ((pair.a, a), (pair.b, b)))
    (verdict,) = verifier.judge(asked, [(stored, similarity)])
    if verdict.veto is not None:
        return Decided(pair, NEVER, similarity, verdict.veto.guard)
    return Decided(pair, verdict.probability, similarity)


def may_share(a: Asked, b: Asked) -> bool:
    """Tell whether two questions stand in the same scope: every earlier turn and every other field is equal."""
    if a.question is None or b.question is None:
        return False
    return _scope(a) == _scope(b)


def _scope(asked: Asked) -> bytes:
    fields = {**asked.scope, "messages": list(asked.turns)}
    tenant, model = str(fields.pop("tenant", "")), str(fields.pop("model", ""))
    return fingerprint(fields, partition=tenant, model_class=model, endpoint="")


def _needs_judge(a: Asked) -> bool:
    """Tell whether a question follows turns that say more than a system prompt: likeness alone decides nothing then."""
    return any(not isinstance(turn, dict) or turn.get("role") not in {"system", "developer"} for turn in a.turns)


def _text(asked: Asked) -> str:
    return asked.question or ""
