"""How GGUF stores numbers, and how each encoding becomes a weight without losing anything.

A Q4_1 block is 32 values in 20 bytes: scale and minimum as fp16, then 16 bytes whose low halves are the first sixteen
codes and whose high halves the rest. A Q8_0 block is 32 values in 34 bytes: an fp16 scale, then 32 signed codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import torch

from local_engine.quant.weight import Dense, Grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from mmap import mmap

    from torch import Tensor

    from local_engine.quant.weight import Weight


@dataclass(frozen=True, slots=True)
class Encoding:
    """One of GGUF's ways of storing numbers.

    Attributes:
        name: As ggml names it.
        block: Values per block.
        block_bytes: Bytes per block.
        decode: Turns raw bytes [rows, blocks, block_bytes] into a weight [rows, blocks * block].
    """

    name: str
    block: int
    block_bytes: int
    decode: Callable[[Tensor], Weight]


def read_weight(data: mmap, shape: tuple[int, ...], encoding: Encoding, offset: int) -> Weight:
    """Decode one tensor of a mapped file; all dimensions but the last become rows.

    Dense tensors view the mapping, so the file is read when they are.
    """
    blocks = shape[-1] // encoding.block
    rows = 1
    for size in shape[:-1]:
        rows *= size
    raw = torch.frombuffer(data, dtype=torch.uint8, count=rows * blocks * encoding.block_bytes, offset=offset)
    return encoding.decode(raw.view(rows, blocks, encoding.block_bytes))


def _decode_q4_1(raw: Tensor) -> Grouped:
    packed = raw[..., 4:]
    codes = torch.cat((packed & 15, packed >> 4), dim=-1).flatten(1)
    return Grouped(codes, _half(raw[..., 0:2]), _half(raw[..., 2:4]), bits=4)


def _decode_q8_0(raw: Tensor) -> Grouped:
    scale = _half(raw[..., 0:2])
    codes = raw[..., 2:].contiguous().view(torch.int8).flatten(1)
    return Grouped(codes, scale, torch.zeros_like(scale), bits=8)


def _half(pair: Tensor) -> Tensor:
    """Read [..., 2] bytes as fp16 [...]."""
    return pair.contiguous().view(torch.float16).squeeze(-1)


def _plain(dtype: torch.dtype) -> Callable[[Tensor], Dense]:
    def decode(raw: Tensor) -> Dense:
        return Dense(raw.flatten(1).view(dtype))

    return decode


ENCODINGS: Final[Mapping[int, Encoding]] = {
    0: Encoding("F32", 1, 4, _plain(torch.float32)),
    1: Encoding("F16", 1, 2, _plain(torch.float16)),
    3: Encoding("Q4_1", 32, 20, _decode_q4_1),
    8: Encoding("Q8_0", 32, 34, _decode_q8_0),
    30: Encoding("BF16", 1, 2, _plain(torch.bfloat16)),
}
"""By ggml's number."""
