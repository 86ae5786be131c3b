import math
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from local_engine.sample.penalties import adjusted, is_adjusted
from local_engine.types import SampleRow, SamplingParams

VOCAB = 12
EOS = frozenset({0, 1})
TOKENS = st.lists(st.integers(0, VOCAB - 1), max_size=20)


def row_of(
    params: SamplingParams,
    prompt: list[int] | None = None,
    output: list[int] | None = None,
    *,
    eos_banned: bool = False,
) -> SampleRow:
    return SampleRow(params, 5, prompt or [], output or [], eos_banned)


def naive(logits: list[float], row: SampleRow) -> list[float]:
    params, out, counts = row.params, list(logits), Counter(row.output_tokens)
    for token in {*row.prompt_tokens, *row.output_tokens}:
        factor = params.repetition_penalty
        out[token] = out[token] / factor if out[token] > 0 else out[token] * factor
    for token, count in counts.items():
        out[token] -= count * params.frequency_penalty + params.presence_penalty
    for token, bias in params.logit_bias:
        out[token] += bias
    if row.eos_banned:
        for token in {*params.stop_token_ids, *(set() if params.ignore_eos else EOS)}:
            out[token] = -math.inf
    return out


@given(
    logits=st.lists(st.floats(-20, 20, width=32), min_size=VOCAB, max_size=VOCAB),
    prompt=TOKENS,
    output=TOKENS,
    params=st.builds(
        SamplingParams,
        max_tokens=st.just(9),
        presence_penalty=st.floats(-2, 2),
        frequency_penalty=st.floats(-2, 2),
        repetition_penalty=st.floats(0.5, 2),
        logit_bias=st.lists(st.tuples(st.integers(0, VOCAB - 1), st.floats(-100, 100)), max_size=3).map(tuple),
        stop_token_ids=st.lists(st.integers(0, VOCAB - 1), max_size=2).map(frozenset),
        ignore_eos=st.booleans(),
    ),
    eos_banned=st.booleans(),
)
def test_all_changes_together_are_those_of_plain_arithmetic(
    logits: list[float], prompt: list[int], output: list[int], params: SamplingParams, eos_banned: bool
) -> None:
    row = row_of(params, prompt, output, eos_banned=eos_banned)
    given_logits = torch.tensor(logits)
    torch.testing.assert_close(adjusted(given_logits, row, EOS), torch.tensor(naive(logits, row)), atol=1e-4, rtol=1e-5)
    assert torch.equal(given_logits, torch.tensor(logits))


def test_presence_and_frequency_look_at_the_output_alone() -> None:
    row = row_of(SamplingParams(9, presence_penalty=1, frequency_penalty=0.5), prompt=[3, 3], output=[4, 4])
    assert adjusted(torch.zeros(VOCAB), row, EOS).tolist() == [0, 0, 0, 0, -2, 0, 0, 0, 0, 0, 0, 0]


def test_repetition_looks_at_prompt_and_output() -> None:
    row = row_of(SamplingParams(9, repetition_penalty=2), prompt=[3], output=[4])
    assert adjusted(torch.ones(VOCAB), row, EOS)[[3, 4, 5]].tolist() == [0.5, 0.5, 1]


@pytest.mark.parametrize(
    "row",
    [
        row_of(SamplingParams(9, presence_penalty=0.1)),
        row_of(SamplingParams(9, frequency_penalty=-0.1)),
        row_of(SamplingParams(9, repetition_penalty=1.1)),
        row_of(SamplingParams(9, logit_bias=((1, 2.0),))),
        row_of(SamplingParams(9), eos_banned=True),
    ],
)
def test_each_option_alone_marks_a_row_as_adjusted(row: SampleRow) -> None:
    assert is_adjusted(row)


def test_a_row_that_asks_for_nothing_is_not_adjusted() -> None:
    assert not is_adjusted(row_of(SamplingParams(9, temperature=0.7, top_p=0.5, top_k=3, min_p=0.1, logprobs=5)))
