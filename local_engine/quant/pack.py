"""Which layout a weight gets, by numerics mode and by what the kernels can take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from local_engine.quant.linear import DenseLinear, DualLinear, Int4Linear, PackedLinear, fits_int4
from local_engine.quant.weight import Grouped
from local_engine.types import Numerics

if TYPE_CHECKING:
    from local_engine.quant.linear import Linear
    from local_engine.quant.weight import Weight

_PREFILL_ROWS = 256


def compute_dtype(numerics: Numerics) -> torch.dtype:
    """Return the dtype of activations and of the KV cache in this mode."""
    return torch.bfloat16 if numerics is Numerics.Q4 else torch.float32


def pack_linear(weight: Weight, numerics: Numerics) -> Linear:
    """Choose a layout for a layer's weight.

    In q4 mode a weight the int4 kernel cannot take (see `fits_int4`) is held as bf16 alone.
    """
    if numerics is not Numerics.Q4:
        return DenseLinear(weight.dequantised())
    many = _bf16(weight)
    if isinstance(weight, Grouped) and fits_int4(weight):
        return DualLinear(few=Int4Linear.pack(weight), many=many)
    return many


def pack_head(weight: Weight) -> Linear:
    """Lay out the output head in fp32 in every mode: what is rounded here reaches the logits undamped.

    bf16 logits near 25 lie 0.125 apart, more than the likeliest tokens of a small model often do.
    """
    return DenseLinear(weight.dequantised())


def _bf16(weight: Weight) -> Linear:
    dense = weight.dequantised().bfloat16()
    if torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported():  # noqa: SLF001  # no public name
        return PackedLinear.pack(dense, _PREFILL_ROWS)
    return DenseLinear(dense)
