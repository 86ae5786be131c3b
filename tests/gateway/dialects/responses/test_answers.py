"""An answer in the chat form, in this dialect, and back."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.dialects.responses.answering import Answer, reply
from gateway.dialects.responses.hearing import Hearing, hear_whole
from gateway.wire.fold import Fold
from gateway.wire.unfold import unfold

ASKED = {"model": "m", "input": "?"}
HEAD = {"id": "resp_1", "object": "chat.completion", "created": 7, "model": "m"}

texts = st.text(min_size=1, max_size=150)
counts = st.integers(0, 10**6)
tokens = st.lists(
    st.fixed_dictionaries(
        {"token": texts, "logprob": st.floats(-9, 0), "bytes": st.just([1]), "top_logprobs": st.just([])}
    ),
    min_size=1,
    max_size=3,
)


def part(kind: str) -> Any:
    return st.lists(st.fixed_dictionaries({"type": st.just(kind), "text": texts}), min_size=1, max_size=2)


thoughts = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {"id": texts, "type": st.just("reasoning"), "summary": st.one_of(st.just([]), part("summary_text"))},
            optional={"encrypted_content": texts},
        ),
        st.fixed_dictionaries(
            {"id": texts, "type": st.just("reasoning"), "summary": st.just([]), "content": part("reasoning_text")}
        ),
    ),
    min_size=1,
    max_size=2,
)


def call(kind: str, said: str) -> Any:
    inside = st.fixed_dictionaries({"name": texts, said: st.one_of(st.just('{"a": 1}'), st.just("{}"), st.text())})
    return st.fixed_dictionaries({"id": texts, "type": st.just(kind), kind: inside})


calls = st.lists(st.one_of(call("function", "arguments"), call("custom", "input")), min_size=1, max_size=4)
sources = st.lists(
    st.just({"type": "url_citation", "url_citation": {"url": "u", "title": "t"}}), min_size=1, max_size=2
)
said = st.one_of(
    st.fixed_dictionaries({"content": texts}, optional={"annotations": sources}),
    st.fixed_dictionaries({"content": st.none(), "refusal": texts}),
    st.just({"content": None}),
)


@st.composite
def completions(draw: st.DrawFn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant"} | draw(said)
    if draw(st.booleans()):
        items: list[dict[str, Any]] = draw(thoughts)
        message["reasoning_items"] = items
        pieces = [part["text"] for item in items for part in item.get("content", item["summary"])]
        message |= {"reasoning_content": "\n\n".join(pieces)} if pieces else {}
    if draw(st.booleans()):
        message["tool_calls"] = draw(calls)
    ending = "tool_calls" if "tool_calls" in message else "stop"
    logprobs = {"content": draw(tokens), "refusal": None} if message["content"] and draw(st.booleans()) else None
    choice = {
        "index": 0,
        "message": message,
        "logprobs": logprobs,
        "finish_reason": draw(st.sampled_from([ending, "length", "content_filter"])),
    }
    prompt, output, cached, thought = draw(counts), draw(counts), draw(counts), draw(counts)
    usage = {
        "prompt_tokens": prompt + cached,
        "completion_tokens": output + thought,
        "total_tokens": prompt + cached + output + thought,
        "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": thought},
        "cost_usd": "0.01",
    }
    return HEAD | {"choices": [choice], "usage": usage}


def heard(events: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    hearing, fold = Hearing(), Fold()
    for name, data in events:
        for chunk in hearing.hear(name, data):
            fold.add(chunk)
    return fold.completion()


def answered(chunks: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    answer = Answer("resp_1", ASKED)
    return [event for chunk in chunks for event in answer.feed(chunk)] + answer.end()


@given(completions())
def test_an_answer_that_is_streamed_comes_back_as_it_was(completion: dict[str, Any]) -> None:
    chunks = [*unfold(completion), {"choices": [], "usage": completion["usage"]}]

    assert heard(answered(chunks)) == completion


@given(completions())
def test_an_answer_in_one_piece_comes_back_as_it_was(completion: dict[str, Any]) -> None:
    fold = Fold()
    for chunk in hear_whole(reply(completion, "resp_1", ASKED)):
        fold.add(chunk)

    assert fold.completion() == completion


@given(completions())
def test_events_that_are_heard_and_answered_again_are_the_same(completion: dict[str, Any]) -> None:
    events = answered([*unfold(completion), {"choices": [], "usage": completion["usage"]}])
    hearing = Hearing()

    again = answered([chunk for name, data in events for chunk in hearing.hear(name, data)])

    assert again == events


@given(completions())
def test_the_number_of_an_event_is_its_place_and_its_name_is_in_its_data(completion: dict[str, Any]) -> None:
    events = answered(list(unfold(completion)))

    assert [data["sequence_number"] for _, data in events] == list(range(len(events)))
    assert [data["type"] for _, data in events] == [name for name, _ in events]


@given(completions())
def test_every_item_that_is_added_is_done_and_stands_in_the_response(completion: dict[str, Any]) -> None:
    events = answered(list(unfold(completion)))

    added = [data["output_index"] for name, data in events if name == "response.output_item.added"]
    done = {data["output_index"]: data["item"] for name, data in events if name == "response.output_item.done"}
    assert added == sorted(done)
    assert [done[index] for index in added] == events[-1][1]["response"]["output"]
