"""No token is lost or counted twice between this API, the chat form and our own classes."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.dialects.responses.usage import from_chat_usage, to_chat_usage
from governance.prices import Usage

counts = st.integers(0, 10**8)


@given(counts, counts, counts, counts)
def test_classes_are_disjoint_and_sum_to_the_total_of_the_provider(
    fresh: int, cached: int, said: int, thought: int
) -> None:
    told = {
        "input_tokens": fresh + cached,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": said + thought,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": fresh + cached + said + thought,
    }

    chat = to_chat_usage(told)

    assert Usage.from_openai(chat) == Usage(fresh_input=fresh, cache_read=cached, output=said, reasoning=thought)
    assert from_chat_usage(chat) == told


@given(counts, counts, counts)
def test_what_is_kept_for_long_is_a_class_of_its_own_in_chat_and_a_part_here(fresh: int, short: int, long: int) -> None:
    chat = {
        "prompt_tokens": fresh + short + long,
        "completion_tokens": 1,
        "total_tokens": fresh + short + long + 1,
        "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": short, "cache_write_1h_tokens": long},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }

    told = from_chat_usage(chat)

    assert told["input_tokens_details"]["cache_write_tokens"] == short + long
    assert to_chat_usage(told) == chat


def test_counts_that_clients_rely_on_are_there_even_where_a_provider_is_silent() -> None:
    assert from_chat_usage({"prompt_tokens": 3, "completion_tokens": 2}) == {
        "input_tokens": 3,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 5,
    }


def test_what_an_answer_cost_stays_beside_its_tokens() -> None:
    assert from_chat_usage({"prompt_tokens": 3, "completion_tokens": 2, "cost_usd": "0.01"})["cost_usd"] == "0.01"
