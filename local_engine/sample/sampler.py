"""One token for each row of logits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from local_engine.errors import NothingToChoose
from local_engine.sample.logprobs import report
from local_engine.sample.penalties import adjusted, is_adjusted
from local_engine.sample.rng import gumbel
from local_engine.sample.truncate import candidates
from local_engine.types import Sampled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from local_engine.types import SampleRow


@torch.inference_mode()
def sample(logits: Tensor, rows: Sequence[SampleRow], eos_ids: frozenset[int]) -> list[Sampled | NothingToChoose]:
    """Choose a token for each row.

    Rows that only want the likeliest token of unchanged logits share one argmax; each of the others pays for what it
    asks and for nothing else.

    Args:
        logits: fp32 [rows, vocab], not changed.
        rows: One per row of logits.
        eos_ids: The model's end tokens, banned in rows whose `eos_banned` is set.

    Returns:
        A token for each row, or why that row alone has none.
    """
    plain = [i for i, row in enumerate(rows) if row.params.temperature == 0 and not is_adjusted(row)]
    likeliest = dict(zip(plain, logits[plain].argmax(dim=1).tolist(), strict=True)) if plain else {}
    return [_sampled(logits[i], row, eos_ids, likeliest.get(i)) for i, row in enumerate(rows)]


def _sampled(
    logits: Tensor, row: SampleRow, eos_ids: frozenset[int], likeliest: int | None
) -> Sampled | NothingToChoose:
    changed = adjusted(logits, row, eos_ids) if is_adjusted(row) else logits
    best = int(changed.argmax()) if likeliest is None else likeliest
    top = float(changed[best])  # argmax takes a NaN for the largest
    if not math.isfinite(top):
        return NothingToChoose("every token is banned" if top == -math.inf else "a logit is not a finite number")
    token = best if row.params.temperature == 0 else _drawn(changed, row)
    if row.params.logprobs is None:
        return Sampled(token, None, ())
    return Sampled(token, *report(logits, token, row.params.logprobs))


def _drawn(logits: Tensor, row: SampleRow) -> int:
    tokens, weights = candidates(logits, row.params)
    return int(tokens[(weights + gumbel(row.params.seed, row.position, tokens)).argmax()])
