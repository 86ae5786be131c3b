"""Temperature, min-p, top-k and top-p: which tokens may be drawn, and with what weight."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from local_engine.types import SamplingParams


_HEAD: Final = 1024


def candidates(logits: Tensor, params: SamplingParams) -> tuple[Tensor, Tensor]:
    """Return the tokens that may be drawn, int64 [kept], and their log weights, fp64 [kept], not normalised.

    The order is temperature, min-p, top-k, top-p, as in vLLM; each looks only at what the one before left. Tokens as
    likely as the k-th stay with it, and of equally likely tokens top-p keeps the lower ids, so the result does not
    depend on how a sort breaks ties. The likeliest token always stays.

    Args:
        logits: fp32 [vocab].
        params: A temperature above 0.
    """
    scaled = logits.double()
    # The largest weight becomes 1, so that no temperature, however small, overflows.
    scaled = (scaled - scaled.max()) / params.temperature
    keep = scaled > -math.inf
    if params.min_p > 0:
        keep &= scaled >= math.log(params.min_p)
    if 0 < params.top_k < scaled.shape[0]:
        keep &= scaled >= scaled.topk(params.top_k).values[-1]
    tokens = keep.nonzero().squeeze(1)
    weights = scaled[tokens]
    if params.top_p < 1:
        return _nucleus(tokens, weights, params.top_p)
    return tokens, weights


def _nucleus(tokens: Tensor, weights: Tensor, top_p: float) -> tuple[Tensor, Tensor]:
    """Keep the likeliest tokens up to and with the one whose probability carries the sum to `top_p`."""
    total = weights.logsumexp(dim=0)
    head = _head(weights)
    if float((weights[head].logsumexp(dim=0) - total).exp()) >= top_p:
        tokens, weights = tokens[head], weights[head]
    ranked, order = torch.sort(weights, descending=True, stable=True)
    probability = (ranked - total).exp()
    before = probability.cumsum(dim=0) - probability
    kept = max(1, int((before < top_p).sum()))
    return tokens[order[:kept]], ranked[:kept]


def _head(weights: Tensor) -> Tensor:
    """Return the indices of the heaviest weights, ties with the last of them included.

    A nucleus nearly always lies inside this head, and sorting all of a vocabulary takes ten times as long.
    """
    if weights.shape[0] <= _HEAD:
        return torch.arange(weights.shape[0])
    return (weights >= weights.topk(_HEAD).values[-1]).nonzero().squeeze(1)
