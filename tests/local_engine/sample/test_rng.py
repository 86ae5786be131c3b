import math

import torch
from hypothesis import given
from hypothesis import strategies as st

from local_engine.sample.rng import gumbel, uniform

MASK = (1 << 64) - 1


def splitmix(value: int) -> int:
    z = (value + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


@given(seed=st.integers(-(2**70), 2**70), position=st.integers(0, 2**20), token=st.integers(0, 2**18))
def test_the_tensor_hash_is_splitmix64_in_plain_integers(seed: int, position: int, token: int) -> None:
    key = splitmix((splitmix(seed & MASK) + position * 0x9E3779B97F4A7C15) & MASK)
    hashed = splitmix((key + token * 0x9E3779B97F4A7C15) & MASK)
    expected = ((hashed >> 12) + 0.5) * 2.0**-52
    assert float(uniform(seed, position, torch.tensor([token]))) == expected


@given(seed=st.integers(0, 2**64 - 1), position=st.integers(0, 8192))
def test_a_tokens_noise_does_not_depend_on_the_other_candidates(seed: int, position: int) -> None:
    everything = uniform(seed, position, torch.arange(100))
    some = torch.tensor([42, 7, 99])
    assert torch.equal(uniform(seed, position, some), everything[some])


def test_uniform_noise_is_uniform_and_never_0_or_1() -> None:
    noise = uniform(1, 1, torch.arange(1_000_000))
    assert float(noise.min()) > 0
    assert float(noise.max()) < 1
    counts = torch.histc(noise, bins=100, min=0, max=1)
    chi_square = float(((counts - 10_000) ** 2 / 10_000).sum())
    assert chi_square < 160  # 99 degrees of freedom: the chance of more is 1 in 10,000, and the noise is fixed


def test_neighbouring_seeds_and_positions_are_uncorrelated() -> None:
    tokens = torch.arange(100_000)
    base = uniform(5, 5, tokens)
    for other in (uniform(6, 5, tokens), uniform(5, 6, tokens), uniform(5, 5, tokens + 1)):
        assert abs(float(torch.corrcoef(torch.stack((base, other)))[0, 1])) < 0.015


def test_gumbel_noise_has_the_mean_and_variance_of_a_gumbel() -> None:
    noise = gumbel(3, 4, torch.arange(1_000_000))
    assert noise.isfinite().all()
    assert abs(float(noise.mean()) - 0.5772156649) < 0.005
    assert abs(float(noise.var()) - math.pi**2 / 6) < 0.01


def test_the_callers_token_ids_are_left_alone() -> None:
    tokens = torch.arange(5)
    gumbel(1, 1, tokens)
    assert tokens.tolist() == [0, 1, 2, 3, 4]
