"""Every token once, whichever form counts it."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.dialects.messages.usage import from_chat_usage, to_chat_usage
from governance.prices import Usage
from tests.support.messages_dialect import COUNTS, usages


@given(usages())
def test_the_classes_of_chat_do_not_overlap_and_sum_to_the_providers_totals(usage: dict[str, Any]) -> None:
    chat = to_chat_usage(usage)
    details = chat["prompt_tokens_details"]
    cached = details["cached_tokens"] + details["cache_write_tokens"] + details["cache_write_1h_tokens"]

    assert chat["prompt_tokens"] - cached == usage["input_tokens"]
    assert details["cache_write_1h_tokens"] == usage["cache_creation"]["ephemeral_1h_input_tokens"]
    assert details["cache_write_tokens"] == usage["cache_creation"]["ephemeral_5m_input_tokens"]
    assert chat["completion_tokens"] == usage["output_tokens"]
    assert chat["total_tokens"] == chat["prompt_tokens"] + chat["completion_tokens"]


@given(usages())
def test_a_usage_comes_back_equal_from_chat(usage: dict[str, Any]) -> None:
    assert from_chat_usage(to_chat_usage(usage)) == usage


@given(usages())
def test_the_ledger_reads_as_many_tokens_as_the_provider_counts(usage: dict[str, Any]) -> None:
    read = Usage.from_openai(to_chat_usage(usage))
    inputs = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")

    assert read is not None
    assert read.input_tokens == sum(usage[name] for name in inputs)
    assert read.output_tokens == usage["output_tokens"]


@given(COUNTS, COUNTS, COUNTS)
def test_a_client_is_told_as_many_tokens_as_the_ledger_reads(prompt: int, completion: int, beyond: int) -> None:
    chat = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion + beyond}
    told, read = from_chat_usage(chat), Usage.from_openai(chat)

    assert read is not None
    assert told["input_tokens"] == read.input_tokens
    assert told["output_tokens"] == read.output_tokens


def test_a_write_whose_kind_is_not_told_is_one_for_five_minutes() -> None:
    details = to_chat_usage({"input_tokens": 1, "cache_creation_input_tokens": 9})["prompt_tokens_details"]

    assert details == {"cached_tokens": 0, "cache_write_tokens": 9, "cache_write_1h_tokens": 0}


@given(st.sampled_from([None, -1, True, "9", 1.5, [], {}]))
def test_a_count_that_is_none_counts_nothing(value: object) -> None:
    assert to_chat_usage({"input_tokens": value, "cache_creation": value, "output_tokens": 3})["total_tokens"] == 3


def test_where_no_usage_was_told_none_is_told_on() -> None:
    assert to_chat_usage({}) == {}
