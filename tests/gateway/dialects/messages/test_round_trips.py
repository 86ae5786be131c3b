"""What a body or an answer says survives being said in the other form."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.dialects.messages.answering import Answering, events_of, to_message
from gateway.dialects.messages.asking import to_chat
from gateway.dialects.messages.calling import to_messages
from gateway.dialects.messages.hearing import Hearing
from gateway.wire.body import shaped
from gateway.wire.fold import Fold
from gateway.wire.request.chat_body import ChatFields
from tests.support.messages_dialect import REQUESTS, Event, answers, completed, read


@given(REQUESTS)
def test_a_request_comes_back_equal_from_the_chat_form(body: dict[str, Any]) -> None:
    assert to_messages(to_chat(body)) == body


@given(REQUESTS)
def test_the_chat_form_of_a_request_is_one_that_governance_can_read(body: dict[str, Any]) -> None:
    fields = shaped(to_chat(body), ChatFields)

    assert fields.max_tokens == body["max_tokens"]
    assert fields.user == body.get("metadata", {}).get("user_id")
    assert fields.stop == body.get("stop_sequences")


@given(answers())
def test_a_whole_message_comes_back_equal_from_a_completion(message: dict[str, Any]) -> None:
    assert to_message(completed(message), "msg_1", "claude") == message


@given(answers())
def test_a_stream_of_a_message_reads_as_that_message(message: dict[str, Any]) -> None:
    assert read(events_of(message)) == message


@given(answers(), st.data())
def test_a_stream_comes_back_equal_however_its_deltas_are_cut(message: dict[str, Any], data: st.DataObject) -> None:
    hearing, answering, fold = Hearing("anthropic", 0), Answering("msg_1", "claude"), Fold()
    told: list[Event] = []
    for name, event in cut(events_of(message), data):
        for chunk in hearing.hear(name, event):
            fold.add(chunk)
            told += answering.say(chunk)

    assert read([*told, *answering.finish()]) == message
    assert to_message(fold.completion(), "msg_1", "claude") == message


def cut(events: list[Event], data: st.DataObject) -> list[Event]:
    """Return the events with each piece of text in two, and pings between them."""
    pieces: list[Event] = []
    for name, event in events:
        delta = event.get("delta", {})
        field = next((n for n in ("text", "partial_json", "thinking") if n in delta), None)
        if field is None:
            pieces.append((name, event))
            continue
        at = data.draw(st.integers(0, len(delta[field])))
        for piece in (delta[field][:at], delta[field][at:]):
            pieces += [(name, event | {"delta": delta | {field: piece}}), ("ping", {"type": "ping"})]
    return pieces


@given(REQUESTS)
def test_a_chat_that_messages_can_say_comes_back_equal_from_it(body: dict[str, Any]) -> None:
    chat = to_chat(body)

    assert to_chat(to_messages(chat)) == chat


CHAT: dict[str, Any] = {
    "model": "claude",
    "max_tokens": 64,
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [{"id": "t1", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}],
        },
        {"role": "tool", "tool_call_id": "t1", "content": "15"},
        {"role": "assistant", "content": "15."},
        {"role": "user", "content": "Thanks."},
    ],
    "stop": ["END"],
    "user": "u1",
    "temperature": 0.5,
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}, "strict": True}}],
    "tool_choice": "required",
    "parallel_tool_calls": False,
    "reasoning_effort": "low",
    "service_tier": "auto",
}


def test_a_chat_of_every_role_comes_back_equal() -> None:
    assert to_chat(to_messages(CHAT)) == CHAT
