"""Noise without state: a hash of (seed, position, token id).

A token's noise is the same whoever shares the batch, in whatever order, after whatever preemption, and for whatever
candidates are left, so a seed alone fixes a sequence. The hash is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch

if TYPE_CHECKING:
    from torch import Tensor

_BITS: Final = 64
_MASK: Final = (1 << _BITS) - 1
_GAMMA: Final = 0x9E3779B97F4A7C15
_FIRST: Final = 0xBF58476D1CE4E5B9
_SECOND: Final = 0x94D049BB133111EB


def gumbel(seed: int, position: int, tokens: Tensor) -> Tensor:
    """Return standard Gumbel noise for each token, fp64 [tokens].

    Adding it to log weights and taking the largest draws from their softmax (the Gumbel-max trick).

    Args:
        seed: Any integer; taken modulo 2**64.
        position: Index in the sequence of the token being drawn.
        tokens: int64 [tokens], token ids.
    """
    return uniform(seed, position, tokens).log_().neg_().log_().neg_()


def uniform(seed: int, position: int, tokens: Tensor) -> Tensor:
    """Return uniform noise strictly between 0 and 1 for each token, fp64 [tokens]."""
    key = _mix(_mix(seed) + position * _GAMMA)
    hashed = _mix_each((tokens + 1).mul_(_signed(_GAMMA)).add_(_signed(key)))
    return _shifted(hashed, 12).double().add_(0.5).mul_(2.0**-52)  # 52 bits and a half are exact in fp64


def _mix(value: int) -> int:
    """Hash one 64-bit number."""
    z = (value + _GAMMA) & _MASK
    z = ((z ^ (z >> 30)) * _FIRST) & _MASK
    z = ((z ^ (z >> 27)) * _SECOND) & _MASK
    return z ^ (z >> 31)


def _mix_each(z: Tensor) -> Tensor:
    """Hash int64 numbers; torch multiplies modulo 2**64, which is what is wanted."""
    z = (z ^ _shifted(z, 30)).mul_(_signed(_FIRST))
    z = (z ^ _shifted(z, 27)).mul_(_signed(_SECOND))
    return z ^ _shifted(z, 31)


def _shifted(z: Tensor, bits: int) -> Tensor:
    """Shift right without the sign."""
    return torch.bitwise_right_shift(z, bits).bitwise_and_((1 << (_BITS - bits)) - 1)


def _signed(value: int) -> int:
    """Return the int64 with the bits of an unsigned 64-bit number."""
    return value - (1 << _BITS) if value >> (_BITS - 1) else value
