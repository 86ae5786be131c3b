"""Log probabilities as the API reports them: of the model, before temperature, penalties and truncation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def report(logits: Tensor, token: int, alternatives: int) -> tuple[float, tuple[tuple[int, float], ...]]:
    """Return the log probability of a token and the likeliest tokens with theirs, likeliest first.

    Args:
        logits: Raw fp32 [vocab].
        token: The chosen token.
        alternatives: How many of the likeliest to report.
    """
    logprobs = logits.log_softmax(dim=0)
    top = logprobs.topk(min(alternatives, logprobs.shape[0]))
    return float(logprobs[token]), tuple(zip(top.indices.tolist(), top.values.tolist(), strict=True))
