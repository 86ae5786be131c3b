"""Changes to the logits before anything is drawn: penalties, biases and bans."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from local_engine.types import SampleRow


def is_adjusted(row: SampleRow) -> bool:
    """Tell whether a row asks for any change, so that the others skip the copy."""
    params = row.params
    return bool(
        row.eos_banned
        or params.logit_bias
        or params.presence_penalty
        or params.frequency_penalty
        or params.repetition_penalty != 1
    )


def adjusted(logits: Tensor, row: SampleRow, eos_ids: frozenset[int]) -> Tensor:
    """Return a changed copy of one row of logits [vocab].

    The order is repetition, frequency, presence, bias, ban: a bias is exact whatever the penalties, and a ban is final.
    """
    params = row.params
    out = logits.clone()
    if params.repetition_penalty != 1:
        seen = torch.tensor([*row.prompt_tokens, *row.output_tokens], dtype=torch.int64).unique()
        values = out[seen]
        out[seen] = torch.where(values > 0, values / params.repetition_penalty, values * params.repetition_penalty)
    if row.output_tokens and (params.presence_penalty or params.frequency_penalty):
        tokens, counts = torch.tensor(row.output_tokens).unique(return_counts=True)
        out[tokens] -= counts * params.frequency_penalty + params.presence_penalty
    if params.logit_bias:
        tokens, biases = zip(*params.logit_bias, strict=True)
        out.index_add_(0, torch.tensor(tokens), torch.tensor(biases, dtype=out.dtype))
    if row.eos_banned:
        ends = [*params.stop_token_ids, *(() if params.ignore_eos else eos_ids)]
        out[torch.tensor(ends, dtype=torch.int64)] = -math.inf
    return out
