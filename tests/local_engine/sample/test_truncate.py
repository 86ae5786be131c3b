import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from local_engine.sample.truncate import candidates
from local_engine.types import SamplingParams

LOGITS = st.lists(st.integers(-40, 40).map(lambda n: n / 4), min_size=1, max_size=30)


def naive(logits: list[float], params: SamplingParams) -> dict[int, float]:
    """Keep tokens by the definition of each option; return their probabilities."""
    highest = max(logits)
    kept = {token: math.exp((logit - highest) / params.temperature) for token, logit in enumerate(logits)}
    if params.min_p:
        kept = {token: weight for token, weight in kept.items() if weight >= params.min_p * (1 - 1e-12)}
    if params.top_k:
        floor = sorted(kept.values(), reverse=True)[: params.top_k][-1]
        kept = {token: weight for token, weight in kept.items() if weight >= floor}
    if params.top_p < 1:
        total, running, nucleus = sum(kept.values()), 0.0, dict[int, float]()
        for token, weight in sorted(kept.items(), key=lambda item: (-item[1], item[0])):
            if nucleus and running >= params.top_p * total - 1e-12:
                break
            nucleus[token] = weight
            running += weight
        kept = nucleus
    total = sum(kept.values())
    return {token: weight / total for token, weight in kept.items()}


@given(
    logits=LOGITS,
    temperature=st.sampled_from([0.25, 0.5, 1.0, 2.0]),
    top_k=st.integers(0, 32),
    top_p=st.one_of(st.just(1.0), st.sampled_from([0.013, 0.217, 0.501, 0.903, 0.9971])),
    min_p=st.one_of(st.just(0.0), st.sampled_from([0.0123, 0.217, 0.9001])),
)
def test_every_combination_keeps_what_the_definitions_keep(
    logits: list[float], temperature: float, top_k: int, top_p: float, min_p: float
) -> None:
    params = SamplingParams(1, temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    tokens, weights = candidates(torch.tensor(logits), params)
    got = dict(zip(tokens.tolist(), weights.softmax(0).tolist(), strict=True))
    expected = naive(logits, params)
    assert got.keys() == expected.keys()
    assert got == pytest.approx(expected, abs=1e-9)


def kept(logits: list[float], **options: float) -> list[int]:
    params = SamplingParams(1, **options)  # pyright: ignore[reportArgumentType]  # a test's shorthand
    return sorted(candidates(torch.tensor(logits), params)[0].tolist())


def test_top_p_keeps_the_token_that_crosses_it() -> None:
    logits = [math.log(p) for p in (0.5, 0.3, 0.2)]
    assert kept(logits, top_p=0.49) == [0]
    assert kept(logits, top_p=0.51) == [0, 1]
    assert kept(logits, top_p=0.81) == [0, 1, 2]


@pytest.mark.parametrize("options", [{"top_p": 1e-9}, {"top_p": 0.0}, {"min_p": 1.0}, {"top_k": 1}])
def test_the_likeliest_token_always_stays(options: dict[str, float]) -> None:
    assert kept([0.0, 3.0, 1.0], **options) == [1]


def test_tokens_as_likely_as_the_kth_stay_with_it() -> None:
    assert kept([1.0, 2.0, 1.0, 0.0], top_k=2) == [0, 1, 2]


def test_min_p_is_relative_to_the_likeliest_after_temperature() -> None:
    logits = [0.0, math.log(0.3)]
    assert kept(logits, min_p=0.2) == [0, 1]
    assert kept(logits, min_p=0.2, temperature=0.5) == [0]  # 0.3 squared is 0.09


def test_top_k_beyond_the_vocabulary_keeps_all() -> None:
    assert kept([1.0, 2.0], top_k=50) == [0, 1]


def test_banned_tokens_are_never_candidates() -> None:
    assert kept([-math.inf, 0.0, 1.0], temperature=2.0) == [1, 2]


def test_the_smallest_temperature_leaves_the_likeliest_and_no_nan() -> None:
    tokens, weights = candidates(torch.tensor([5.0, 5.1, -3.0]), SamplingParams(1, temperature=1e-300))
    assert not weights.isnan().any()
    assert int(tokens[weights.argmax()]) == 1


@pytest.mark.parametrize("spread", [0.0, 0.1, 1.0, 4.0])
@pytest.mark.parametrize("top_p", [0.1003, 0.6013, 0.9507, 0.99987])
def test_a_nucleus_of_a_large_vocabulary_is_exact_inside_and_past_the_head(spread: float, top_p: float) -> None:
    noise = torch.Generator().manual_seed(1)
    logits = (torch.randn(5000, generator=noise) * spread * 4).round() / 4  # many ties
    tokens, weights = candidates(logits, SamplingParams(1, top_p=top_p))
    expected = naive(logits.tolist(), SamplingParams(1, top_p=top_p))
    assert tokens.tolist() == list(expected)
    assert weights.softmax(0).tolist() == pytest.approx(list(expected.values()), abs=1e-9)
