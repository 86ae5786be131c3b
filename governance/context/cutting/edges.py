"""Where a reader sees a document best: at the beginning and at the end.

"Lost in the Middle" (arXiv 2307.03172): models use what stands at the edges of a long context, and overlook what stands
in its middle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

EDGE: Final = 0.25
"""The share of a prompt at each end that counts as its edge."""


def edged(scores: Sequence[float]) -> list[int]:
    """Return the order of documents with such scores: best first, second best last, and so on towards the middle."""
    best = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
    return [*best[::2], *reversed(best[1::2])]


def in_the_middle(at: float) -> bool:
    """Say whether a place between 0, the start of a prompt, and 1, its end, is in its middle."""
    return EDGE < at < 1 - EDGE
