"""What an answer has used, whatever its provider says."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from gateway.counting.calibration import Calibration
from gateway.counting.tally import Prompt, Tally
from gateway.providers.upstream import Chunk
from gateway.steps.metering import Meter
from governance.prices import Usage


def tally() -> Tally:
    body = {"messages": [{"role": "user", "content": "What is the capital of France?"}]}
    return Tally("m", Calibration(), Prompt(body, len(msgspec.json.encode(body))))


def meter(*values: dict[str, Any], most_output: int = 1000) -> Meter:
    made = Meter(tally(), most_output)
    for value in values:
        made.see(Chunk(msgspec.json.encode(value), value), 1.0)
    return made


def says(text: str, usage: Any = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}], "usage": usage}


def test_the_service_is_what_the_provider_says_that_it_was() -> None:
    assert meter(says("a") | {"service_tier": "default"}).service == "standard"
    assert meter(says("a") | {"service_tier": "flex"}, says("b")).service == "flex"
    assert meter(says("a") | {"service_tier": "fast"}).service == "priority"
    assert meter(says("a") | {"service_tier": ["flex"]}).service == "standard"


def test_the_last_usage_counts() -> None:
    first = {"prompt_tokens": 5, "completion_tokens": 1}
    last = {"prompt_tokens": 5, "completion_tokens": 2}

    assert meter(says("a", first), says("b", last)).reported == Usage(fresh_input=5, output=2)


def test_an_answer_of_text_without_tokens_is_not_believed() -> None:
    assert meter(says("hello", {"prompt_tokens": 5, "completion_tokens": 0})).reported is None
    assert meter(says("", {"prompt_tokens": 5, "completion_tokens": 0})).reported == Usage(fresh_input=5)


def test_an_answer_of_a_call_without_tokens_is_not_believed() -> None:
    nothing = {"prompt_tokens": 5, "completion_tokens": 0}
    for call in (
        {"function_call": {"name": "f", "arguments": "{}"}},
        {"tool_calls": [{"index": 0, "type": "custom", "custom": {"name": "f", "input": "x"}}]},
        {"content": [{"type": "text", "text": "hello"}]},
    ):
        said = {"choices": [{"index": 0, "delta": call, "finish_reason": "stop"}], "usage": nothing}
        assert meter(said).reported is None


def test_a_prompt_without_tokens_is_not_believed_though_its_answer_is() -> None:
    made = meter(says("hello", {"prompt_tokens": 0, "completion_tokens": 40}))

    assert made.reported is None
    assert made.guess == Usage(fresh_input=tally().likely, output=40)
    made.disbelieve()
    assert made.guess.output == 2


def test_a_guess_is_never_more_than_was_held() -> None:
    guess = meter(says("x" * 4000), most_output=7).guess

    assert guess.output == 7
    assert 0 < guess.fresh_input <= tally().held


def test_usage_that_makes_no_sense_does_not_reach_the_client() -> None:
    assert meter(says("hello", "lots")).completion()["usage"]["completion_tokens"] == 2


def test_a_prompt_that_was_counted_before_the_answer_counts_so_when_the_answer_breaks_off() -> None:
    told = {"prompt_tokens": 500, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": 400}}

    assert meter({"choices": [], "usage": told}, says("hello")).guess == Usage(
        fresh_input=100, cache_read=400, output=2
    )


def test_a_chunk_that_says_nothing_is_no_first_token() -> None:
    quiet = Meter(tally(), 10)
    quiet.see(Chunk(b'{"type": "ping"}', {}, "messages"), 1.0)

    assert quiet.first_at is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["choices", "delta", "message", "index", "content", "tool_calls", "function", "arguments",
                         "finish_reason", "logprobs", "usage", "role", "x"]), inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.lists(st.dictionaries(st.sampled_from(["choices", "usage", "id", "x"]), json_values, max_size=4), max_size=4))
def test_no_shape_of_chunk_can_keep_an_answer_from_being_settled(values: list[dict[str, Any]]) -> None:
    made = meter(*values)

    assert isinstance(made.guess, Usage)
    assert made.reported is None or made.reported.total >= 0
    assert isinstance(made.complete, bool)
    assert isinstance(made.completion()["usage"], dict)


def test_what_was_withheld_is_paid_as_the_provider_says_though_something_is_said_in_its_place() -> None:
    withheld = says("I cannot say.", {"prompt_tokens": 9, "completion_tokens": 0})
    assert meter(withheld).reported is None
    withheld["choices"][0]["finish_reason"] = "content_filter"
    assert meter(withheld).reported == Usage(fresh_input=9)
