"""One token for each row of logits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

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
def sample(logits: Tensor, rows: Sequence[SampleRow], eos_ids: frozenset[int]) -> list[Sampled]:
    """Choose a token for each row.

    Rows that only want the likeliest token of unchanged logits share one argmax; each of the others pays for what it
    asks and for nothing else.

    Args:
        logits: fp32 [rows, vocab], not changed.
        rows: One per row of logits.
        eos_ids: The model's end tokens, banned in rows whose `eos_banned` is set.
    """
    plain = [i for i, row in enumerate(rows) if row.params.temperature == 0 and not is_adjusted(row)]
    chosen = dict(zip(plain, logits[plain].argmax(dim=1).tolist(), strict=True)) if plain else {}
    tokens = [chosen[i] if i in chosen else _choose(logits[i], row, eos_ids) for i, row in enumerate(rows)]
    return [_sampled(logits[i], token, rows[i].params.logprobs) for i, token in enumerate(tokens)]


def _choose(logits: Tensor, row: SampleRow, eos_ids: frozenset[int]) -> int:
    logits = adjusted(logits, row, eos_ids) if is_adjusted(row) else logits
    if row.params.temperature == 0:
        return int(logits.argmax())
    tokens, weights = candidates(logits, row.params)
    return int(tokens[(weights + gumbel(row.params.seed, row.position, tokens)).argmax()])


def _sampled(logits: Tensor, token: int, alternatives: int | None) -> Sampled:
    if alternatives is None:
        return Sampled(token, None, ())
    return Sampled(token, *report(logits, token, alternatives))
