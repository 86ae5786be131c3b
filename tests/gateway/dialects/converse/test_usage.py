"""Every token once, whichever way a model's stream counts what the cache has read and written."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.dialects.converse.hearing import Hearing
from gateway.dialects.converse.usage import to_messages_usage
from governance.prices import Usage
from tests.support.messages_dialect import COUNTS

CLAUDE, GPT = "us.anthropic.claude-sonnet-4-6", "us.openai.gpt-5.6-luna"


@st.composite
def usages(draw: st.DrawFn) -> dict[str, Any]:
    fresh, read, minutes, hour, output = (draw(COUNTS) for _ in range(5))
    details = [{"ttl": "1h", "inputTokens": hour}, {"ttl": "5m", "inputTokens": minutes}]
    return {
        "inputTokens": fresh,
        "outputTokens": output,
        "totalTokens": fresh + read + minutes + hour + output,
        "cacheReadInputTokens": read,
        "cacheWriteInputTokens": minutes + hour,
        "cacheDetails": details,
    }


def told(usage: dict[str, Any], model: str) -> dict[str, Any]:
    hearing = Hearing("aws", "a", model, 0)
    hearing.hear("messageStart", {"role": "assistant"})
    [chunk] = hearing.hear("metadata", {"usage": usage, "metrics": {"latencyMs": 1}})
    return chunk["usage"]


@given(usages())
def test_the_classes_of_chat_do_not_overlap_and_sum_to_the_providers_totals(usage: dict[str, Any]) -> None:
    chat = told(usage, CLAUDE)
    details = chat["prompt_tokens_details"]

    assert chat["total_tokens"] == usage["totalTokens"]
    assert chat["completion_tokens"] == usage["outputTokens"]
    assert details == {
        "cached_tokens": usage["cacheReadInputTokens"],
        "cache_write_1h_tokens": usage["cacheDetails"][0]["inputTokens"],
        "cache_write_tokens": usage["cacheDetails"][1]["inputTokens"],
    }
    assert chat["prompt_tokens"] - sum(details.values()) == usage["inputTokens"]


@given(usages())
def test_the_ledger_reads_as_many_tokens_as_the_provider_counts(usage: dict[str, Any]) -> None:
    read = Usage.from_openai(told(usage, CLAUDE))

    assert read is not None
    assert read.total == usage["totalTokens"]


@given(usages())
def test_a_stream_that_counts_cached_input_twice_is_read_as_one_that_does_not(usage: dict[str, Any]) -> None:
    twice = usage["cacheReadInputTokens"] + usage["cacheWriteInputTokens"]
    gross = {"inputTokens": usage["inputTokens"] + twice, "totalTokens": usage["totalTokens"] + twice}

    assert told(usage | gross, GPT) == told(usage, CLAUDE)


@pytest.mark.parametrize(
    ("model", "fresh", "read", "written", "prompt"),
    [
        (CLAUDE, 562, 3059, 0, 3621),
        ("amazon.nova-lite-v1:0", 723, 0, 2459, 3182),
        (GPT, 8369, 0, 8367, 8369),
        (GPT, 12401, 8367, 4032, 12401),
        (GPT, 2, 0, 4993, 4995),
    ],
)
def test_what_was_measured_of_each_family_counts_the_prompt_once(
    model: str, fresh: int, read: int, written: int, prompt: int
) -> None:
    # Counts that users of Bedrock have published beside the size of their prompts.
    usage = {"inputTokens": fresh, "cacheReadInputTokens": read, "cacheWriteInputTokens": written, "outputTokens": 1}

    assert told(usage, model)["prompt_tokens"] == prompt


def test_a_write_whose_kind_is_not_told_is_one_for_five_minutes() -> None:
    usage = to_messages_usage({"inputTokens": 1, "cacheWriteInputTokens": 9}, twice=False)

    assert usage["cache_creation"] == {"ephemeral_5m_input_tokens": 9, "ephemeral_1h_input_tokens": 0}


@given(st.sampled_from([None, -1, True, "9", 1.5, [], {}]))
def test_a_count_that_is_none_counts_nothing(value: object) -> None:
    assert told({"inputTokens": value, "cacheDetails": value, "outputTokens": 3}, CLAUDE)["total_tokens"] == 3
