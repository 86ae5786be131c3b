import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from local_engine.errors import NothingToChoose
from local_engine.sample import sampler
from local_engine.types import SampleRow, SamplingParams

VOCAB = 50
EOS = frozenset({0})


def logits_of(rows: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(rows, VOCAB, generator=torch.Generator().manual_seed(seed)) * 3


def sample(logits: torch.Tensor, rows: Sequence[SampleRow], eos_ids: frozenset[int]) -> list[Any]:
    """Sample without asking each token whether there is one."""
    return sampler.sample(logits, rows, eos_ids)


def row_of(params: SamplingParams, position: int = 7, *, eos_banned: bool = False) -> SampleRow:
    return SampleRow(params, position, [1, 2], [3], eos_banned)


PARAMS = st.builds(
    SamplingParams,
    max_tokens=st.just(9),
    temperature=st.sampled_from([0.0, 0.7, 1.0, 1.5]),
    top_k=st.sampled_from([0, 1, 5]),
    top_p=st.sampled_from([1.0, 0.9, 0.3]),
    min_p=st.sampled_from([0.0, 0.05]),
    seed=st.integers(0, 2**63),
    presence_penalty=st.sampled_from([0.0, 1.0]),
    repetition_penalty=st.sampled_from([1.0, 1.3]),
    logprobs=st.sampled_from([None, 0, 3]),
)


@given(
    rows=st.lists(st.builds(row_of, PARAMS, st.integers(0, 500), eos_banned=st.booleans()), min_size=1, max_size=6),
    seed=st.integers(0, 99),
)
def test_a_rows_token_does_not_depend_on_its_batch(rows: list[SampleRow], seed: int) -> None:
    logits = logits_of(len(rows), seed)
    alone = [sample(logits[i : i + 1], [row], EOS)[0] for i, row in enumerate(rows)]
    assert sample(logits, rows, EOS) == alone
    backwards = list(range(len(rows)))[::-1]
    assert sample(logits[backwards], [rows[i] for i in backwards], EOS) == [alone[i] for i in backwards]


def test_temperature_0_takes_the_likeliest_token_in_any_company() -> None:
    logits = logits_of(3)
    rows = [
        row_of(SamplingParams(9, temperature=0)),
        row_of(SamplingParams(9)),
        row_of(SamplingParams(9, temperature=0)),
    ]
    sampled = sample(logits, rows, EOS)
    assert sampled[0].token == int(logits[0].argmax())
    assert sampled[2].token == int(logits[2].argmax())


def test_temperature_0_takes_the_likeliest_of_the_adjusted_logits() -> None:
    logits = torch.zeros(1, VOCAB)
    logits[0, 0], logits[0, 3], logits[0, 9] = 9, 8, 7
    banned = row_of(SamplingParams(9, temperature=0), eos_banned=True)
    assert sample(logits, [banned], EOS)[0].token == 3
    penalised = row_of(SamplingParams(9, temperature=0, presence_penalty=2), eos_banned=True)
    assert sample(logits, [penalised], EOS)[0].token == 9


def test_the_same_seed_and_position_give_the_same_token_and_others_differ() -> None:
    logits = torch.zeros(1, VOCAB)

    def token(seed: int, position: int) -> int:
        return sample(logits, [row_of(SamplingParams(9, seed=seed), position)], EOS)[0].token

    assert token(1, 1) == token(1, 1)
    assert len({token(1, position) for position in range(40)}) > 10
    assert len({token(seed, 1) for seed in range(40)}) > 10


@pytest.mark.parametrize(
    "params",
    [
        SamplingParams(9),
        SamplingParams(9, temperature=0.6),
        SamplingParams(9, top_k=4),
        SamplingParams(9, top_p=0.7),
        SamplingParams(9, min_p=0.1),
    ],
)
def test_drawn_tokens_follow_the_distribution(params: SamplingParams) -> None:
    logits = torch.tensor([2.0, 1.0, 0.5, 0.0, -1.0, 1.5])
    draws = 4000
    rows = [SampleRow(params, position, [], [], eos_banned=False) for position in range(draws)]
    counts = torch.bincount(torch.tensor([s.token for s in sample(logits.expand(draws, 6), rows, EOS)]), minlength=6)
    scaled = logits / params.temperature
    probability = scaled.softmax(0)
    ranked = probability.sort(descending=True)
    floor = {
        "k": ranked.values[params.top_k - 1] if params.top_k else 0,
        "p": ranked.values[int((ranked.values.cumsum(0) < params.top_p).sum())] if params.top_p < 1 else 0,
        "min": params.min_p * ranked.values[0],
    }
    probability = torch.where(probability >= max(float(value) for value in floor.values()), probability, 0)
    expected = probability / probability.sum() * draws
    assert counts[expected == 0].sum() == 0
    live = expected > 0
    chi_square = float(((counts[live] - expected[live]) ** 2 / expected[live]).sum())
    assert chi_square < 25.7  # 5 degrees of freedom, 1 in 10,000; the draws are fixed by their positions


def test_logprobs_are_of_the_raw_logits_whatever_was_done_to_them() -> None:
    logits = logits_of(1)
    params = SamplingParams(9, temperature=0.3, top_k=2, presence_penalty=2, logit_bias=((4, 50.0),), logprobs=3)
    (got,) = sample(logits, [row_of(params)], EOS)
    expected = logits[0].double().log_softmax(0)
    assert got.token == 4
    assert got.logprob == pytest.approx(float(expected[4]), abs=1e-5)
    likeliest = expected.topk(3)
    assert [token for token, _ in got.top] == likeliest.indices.tolist()
    assert [value for _, value in got.top] == pytest.approx(likeliest.values.tolist(), abs=1e-5)


def test_logprobs_of_zero_alternatives_report_the_token_alone() -> None:
    (got,) = sample(logits_of(1), [row_of(SamplingParams(9, logprobs=0))], EOS)
    assert got.logprob is not None
    assert got.logprob <= 0
    assert got.top == ()


def test_logprobs_are_left_out_when_not_asked_for() -> None:
    (got,) = sample(logits_of(1), [row_of(SamplingParams(9))], EOS)
    assert (got.logprob, got.top) == (None, ())


def test_a_bias_can_rule_out_all_but_one_token() -> None:
    logits = torch.zeros(1, VOCAB)
    for bias in (-100.0, -math.inf):
        params = SamplingParams(9, logit_bias=tuple((token, bias) for token in range(VOCAB) if token != 33))
        assert sample(logits, [row_of(params)], EOS)[0].token == 33


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("spoiler", [math.nan, math.inf])
def test_a_row_with_nothing_to_choose_says_so_and_leaves_the_others_alone(temperature: float, spoiler: float) -> None:
    logits = logits_of(4)
    fine = row_of(SamplingParams(9, temperature=temperature))
    banned = row_of(SamplingParams(9, temperature=temperature, stop_token_ids=frozenset(range(VOCAB))), eos_banned=True)
    expected = sample(logits, [fine] * 4, EOS)
    logits[2, 7] = spoiler
    got = sample(logits, [fine, banned, fine, fine], EOS)
    assert [got[0], got[3]] == [expected[0], expected[3]]
    assert [isinstance(each, NothingToChoose) for each in got] == [False, True, True, False]


def test_no_rows_give_no_tokens() -> None:
    assert sample(torch.zeros(0, VOCAB), [], EOS) == []


def test_the_callers_logits_are_left_alone() -> None:
    logits = logits_of(2)
    before = logits.clone()
    sample(logits, [row_of(SamplingParams(9, repetition_penalty=2), eos_banned=True)] * 2, EOS)
    assert torch.equal(logits, before)
