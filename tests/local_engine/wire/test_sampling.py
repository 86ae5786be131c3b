import contextlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_engine.errors import ContextTooLong, InvalidRequest, TokenOutOfVocabulary
from local_engine.types import SamplingParams
from local_engine.wire.bodies import ChatBody, CompletionBody, StreamOptions
from local_engine.wire.sampling import ModelLimits, SamplingDefaults, sampling_of

LIMITS = ModelLimits(context=100, vocab_size=50, draw_seed=lambda: 77)


def chat(**fields: Any) -> SamplingParams:
    [params] = sampling_of(ChatBody(messages=[], **fields), [10], LIMITS)
    return params


def text(**fields: Any) -> SamplingParams:
    [params] = sampling_of(CompletionBody(prompt="", **fields), [10], LIMITS)
    return params


def test_what_is_not_given_has_openais_defaults_and_a_drawn_seed() -> None:
    assert chat() == SamplingParams(max_tokens=90, temperature=1.0, seed=77)


def test_a_models_own_recommendation_holds_where_nothing_is_given() -> None:
    limits = replace(LIMITS, defaults=SamplingDefaults(temperature=0.2, top_p=0.9))
    [silent] = sampling_of(ChatBody(messages=[]), [10], limits)
    [explicit] = sampling_of(ChatBody(messages=[], temperature=1.0, top_p=1.0), [10], limits)

    assert (silent.temperature, silent.top_p) == (0.2, 0.9)
    assert (explicit.temperature, explicit.top_p) == (1.0, 1.0)


def test_everything_that_is_given_arrives() -> None:
    expected = SamplingParams(
        max_tokens=20,
        min_tokens=2,
        temperature=0.5,
        top_k=7,
        top_p=0.9,
        min_p=0.1,
        seed=-3,
        presence_penalty=1.0,
        frequency_penalty=-1.0,
        repetition_penalty=1.1,
        logit_bias=((4, -100.0),),
        logprobs=3,
        stop=("a", "b"),
        stop_token_ids=frozenset({9}),
        ignore_eos=True,
        include_stop=True,
    )
    given = {
        "max_tokens": 20,
        "min_tokens": 2,
        "temperature": 0.5,
        "top_k": 7,
        "top_p": 0.9,
        "min_p": 0.1,
        "seed": -3,
        "presence_penalty": 1.0,
        "frequency_penalty": -1.0,
        "repetition_penalty": 1.1,
        "logit_bias": {"4": -100.0},
        "stop": ["a", "b"],
        "stop_token_ids": [9],
        "ignore_eos": True,
        "include_stop_str_in_output": True,
    }
    assert chat(logprobs=True, top_logprobs=3, **given) == expected
    assert text(logprobs=3, **given) == expected
    assert text(**given) == replace(expected, logprobs=None)


def test_max_completion_tokens_wins() -> None:
    assert chat(max_tokens=5, max_completion_tokens=6).max_tokens == 6


def test_one_stop_text_may_come_without_a_list() -> None:
    assert chat(stop="x").stop == ("x",)


def test_top_k_of_minus_one_is_off() -> None:
    assert chat(top_k=-1).top_k == 0


REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "cold": ("temperature", {"temperature": -0.1}),
    "hot": ("temperature", {"temperature": 2.1}),
    "no probability": ("top_p", {"top_p": 0.0}),
    "too much probability": ("top_p", {"top_p": 1.1}),
    "a negative top_k": ("top_k", {"top_k": -2}),
    "a negative length": ("max_tokens", {"max_tokens": -1}),
    "no length": ("max_tokens", {"max_tokens": 0}),
    "a longer minimum": ("min_tokens", {"min_tokens": 5, "max_tokens": 4}),
    "no choices": ("n", {"n": 0}),
    "too many choices": ("n", {"n": 129}),
    "a large penalty": ("presence_penalty", {"presence_penalty": 2.1}),
    "no repetition": ("repetition_penalty", {"repetition_penalty": 0.0}),
    "17 stop texts": ("stop", {"stop": list("abcdefghijklmnopq")}),
    "an empty stop text": ("stop", {"stop": ""}),
    "a bias by name": ("logit_bias", {"logit_bias": {"a": 1.0}}),
    "a strong bias": ("logit_bias", {"logit_bias": {"1": 101.0}}),
    "JSON": ("response_format", {"response_format": {"type": "json_object"}}),
    "a schema": ("structured_outputs", {"structured_outputs": {"regex": "a"}}),
    "prompt logprobs": ("prompt_logprobs", {"prompt_logprobs": 1}),
    "stream options alone": ("stream_options", {"stream_options": StreamOptions()}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_sense_is_refused_by_name(case: str) -> None:
    param, fields = REFUSED[case]
    for body in (chat, text):
        with pytest.raises(InvalidRequest) as refused:
            body(**fields)
        assert refused.value.param == param


def test_what_only_one_kind_of_body_can_ask_for_is_refused_there() -> None:
    for refused, fields in (
        (chat, {"top_logprobs": 1}),
        (chat, {"logprobs": True, "top_logprobs": 21}),
        (text, {"logprobs": 21}),
        (text, {"echo": True}),
        (text, {"suffix": "x"}),
        (text, {"best_of": 2}),
    ):
        with pytest.raises(InvalidRequest):
            refused(**fields)
    assert text(best_of=1, echo=False, suffix="").logprobs is None


def test_tokens_the_model_does_not_have_are_refused() -> None:
    for fields in ({"logit_bias": {"50": 1.0}}, {"stop_token_ids": [-1]}):
        with pytest.raises(TokenOutOfVocabulary):
            chat(**fields)


def test_an_answer_that_cannot_fit_is_refused_with_the_counts() -> None:
    with pytest.raises(ContextTooLong) as refused:
        chat(max_tokens=91)
    assert (refused.value.prompt_tokens, refused.value.max_tokens, refused.value.limit) == (10, 91, 100)
    with pytest.raises(ContextTooLong):
        sampling_of(ChatBody(messages=[]), [100], LIMITS)


def test_prompts_of_one_body_share_its_sampling_and_nothing_that_depends_on_the_prompt() -> None:
    seeds = iter((5, 6))
    body = CompletionBody(prompt="", stop_token_ids=[9, 9, 8], logit_bias={"4": 1.0, "04": 2.0})
    first, second = sampling_of(body, [10, 20], replace(LIMITS, draw_seed=lambda: next(seeds)))
    assert (first.max_tokens, second.max_tokens) == (90, 80)
    assert (first.seed, second.seed) == (5, 6)
    assert first.stop_token_ids is second.stop_token_ids == {8, 9}
    assert first.logit_bias is second.logit_bias
    assert first.logit_bias == ((4, 2.0),), "a token that is named twice has its last bias"


@given(st.text(max_size=12), st.floats(allow_nan=True))
def test_no_bias_raises_anything_else(key: str, value: float) -> None:
    with contextlib.suppress(InvalidRequest):
        chat(logit_bias={key: value})
