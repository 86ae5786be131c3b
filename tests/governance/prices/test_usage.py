"""What providers say was used, in classes that do not overlap: no token twice, none left out."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from governance.prices import INPUT, OUTPUT, Usage

tokens = st.integers(0, 10_000_000)
few = st.integers(0, 40)


@given(st.builds(Usage, **dict.fromkeys(Usage.__struct_fields__, few)))
def test_the_classes_of_a_usage_that_tells_all_of_them_are_what_was_told(usage: Usage) -> None:
    assert Usage.from_openai(_chat(usage)) == usage
    assert sum(getattr(usage, name) for name in (*INPUT, *OUTPUT)) == usage.total


@given(
    prompt=few, completion=few, total=st.none() | few,
    details=st.dictionaries(
        st.sampled_from(
            ["cached_tokens", "cache_write_tokens", "cache_write_1h_tokens", "audio_tokens", "image_tokens",
             "cached_audio_tokens"]
        ), st.none() | few,
    ),
    made=st.dictionaries(st.sampled_from(["reasoning_tokens", "audio_tokens"]), st.none() | few),
)  # fmt: skip
def test_whatever_is_told_its_classes_add_up_to_the_totals_or_it_is_no_usage(
    prompt: int, completion: int, total: int | None, details: dict[str, int | None], made: dict[str, int | None]
) -> None:
    said = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": total,
        "prompt_tokens_details": details,
        "completion_tokens_details": made,
    }
    usage = Usage.from_openai(said)
    assume(usage is not None)
    assert usage is not None
    assert usage.input_tokens == prompt
    assert usage.output_tokens == max(completion, 0 if total is None else total - prompt)
    assert all(count >= 0 for count in (getattr(usage, name) for name in Usage.__struct_fields__))


@given(prompt=tokens, completion=tokens, data=st.data())
def test_cached_and_reasoning_tokens_are_within_what_is_told(prompt: int, completion: int, data: st.DataObject) -> None:
    cached, reasoning = data.draw(st.integers(0, prompt)), data.draw(st.integers(0, completion))
    usage = Usage.from_openai(
        {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        }
    )
    assert usage == Usage(prompt - cached, cached, output=completion - reasoning, reasoning=reasoning)


def test_zero_tokens_are_a_usage_and_absence_is_none() -> None:
    assert Usage.from_openai({"prompt_tokens": 0, "completion_tokens": 0}) == Usage()
    assert Usage.from_openai({"prompt_tokens": 0, "completion_tokens": None}) is None
    assert Usage.from_openai(None) is None
    assert Usage.from_openai({}) is None


def test_details_may_be_absent_or_null() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": None}
    assert Usage.from_openai(usage) == Usage(fresh_input=7, output=3)
    assert Usage.from_openai(usage | {"prompt_tokens_details": {"cached_tokens": None}}) == Usage(7, output=3)


def test_an_embedding_has_no_completion() -> None:
    assert Usage.from_openai({"prompt_tokens": 8, "total_tokens": 8}) == Usage(fresh_input=8)


def test_an_explicit_zero_is_believed_where_an_absent_count_is_looked_for_elsewhere() -> None:
    usage: dict[str, Any] = {"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 5}
    assert Usage.from_openai(usage) == Usage(4, 5, output=1)
    assert Usage.from_openai(usage | {"prompt_tokens_details": {"cached_tokens": 0}}) == Usage(9, output=1)


def test_cached_tokens_beyond_the_text_of_a_prompt_were_sound() -> None:
    usage: dict[str, Any] = {"prompt_tokens": 100, "completion_tokens": 0}
    details = {"cached_tokens": 70, "audio_tokens": 50}
    told = Usage.from_openai(usage | {"prompt_tokens_details": details})
    assert told == Usage(fresh_input=0, cache_read=50, audio_input=30, audio_read=20)
    told = Usage.from_openai(usage | {"prompt_tokens_details": details | {"cached_audio_tokens": 50}})
    assert told == Usage(fresh_input=30, cache_read=20, audio_read=50)


def test_cached_tokens_beyond_the_text_of_a_prompt_were_pictures_before_they_were_sound() -> None:
    details = {"cached_tokens": 70, "image_tokens": 20, "audio_tokens": 30}
    usage = {"prompt_tokens": 90, "completion_tokens": 0, "prompt_tokens_details": details}
    assert Usage.from_openai(usage) == Usage(cache_read=60, audio_input=20, audio_read=10)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 7},
        {"completion_tokens": 7},
        {"prompt_tokens": "7", "completion_tokens": 3},
        {"prompt_tokens": 7.0, "completion_tokens": 3},
        {"prompt_tokens": True, "completion_tokens": 3},
        {"prompt_tokens": -1, "completion_tokens": 3},
        {"prompt_tokens": 7, "completion_tokens": -3, "total_tokens": 10},
        {"prompt_tokens": 10**12, "completion_tokens": 3},
        {"prompt_tokens": 8, "total_tokens": 7},
        {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}},
        {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"audio_tokens": 8}},
        {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"image_tokens": 8}},
        {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cache_write_1h_tokens": 8}},
        {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_audio_tokens": 1}},
        {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": -1}},
        {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": [1]},
        {"prompt_tokens": 7, "completion_tokens": 3, "completion_tokens_details": {"reasoning_tokens": 4}},
        {"prompt_tokens": 7, "completion_tokens": 3, "completion_tokens_details": {"audio_tokens": 4}},
        {
            "prompt_tokens": 7,
            "completion_tokens": 3,
            "completion_tokens_details": {"audio_tokens": 2, "reasoning_tokens": 2},
        },
        {"prompt_tokens": 7, "completion_tokens": 3, "tool_runs": -1},
        {"prompt_tokens": 7, "completion_tokens": 3, "tool_runs": {"web_search": 1}},
    ],
)
def test_nonsense_is_not_a_usage(usage: dict[str, object]) -> None:
    assert Usage.from_openai(usage) is None


def _chat(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read + usage.audio_read,
            "cache_write_tokens": usage.cache_write,
            "cache_write_1h_tokens": usage.cache_write_1h,
            "audio_tokens": usage.audio_input + usage.audio_read,
            "image_tokens": usage.image_input,
            "cached_audio_tokens": usage.audio_read,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning, "audio_tokens": usage.audio_output},
        "tool_runs": usage.tool_runs,
    }
