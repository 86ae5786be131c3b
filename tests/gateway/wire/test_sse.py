"""Event streams, cut anywhere."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.wire.sse import EventSplitter, EventTooLong, event

payloads = st.lists(
    st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1).map(str.encode)
)


@given(payloads, st.sampled_from([b"\n", b"\r\n", b"\r"]), st.data())
def test_events_come_out_whole_wherever_the_reads_fall(sent: list[bytes], end: bytes, data: st.DataObject) -> None:
    stream = b"".join(b": a comment" + end + b"data: " + payload + end + end for payload in sent) + b"data"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    splitter, received = EventSplitter(), list[bytes]()
    for start, stop in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        received += splitter.feed(stream[start:stop])

    assert received == sent


def test_lines_of_one_event_are_joined_and_other_fields_dropped() -> None:
    assert EventSplitter().feed(b"event: x\nid: 1\ndata: one\ndata:two\n\n") == [b"one\ntwo"]


@pytest.mark.parametrize("cut", [b"data: half", b"data: half\n", b"data: half\r\n", b"data: half\n: a comment"])
def test_an_event_in_which_the_stream_ends_is_given_at_the_end(cut: bytes) -> None:
    splitter = EventSplitter()

    assert splitter.feed(cut) == []
    assert splitter.end() == b"half"
    assert splitter.end() is None


def test_blank_lines_alone_are_no_event() -> None:
    splitter = EventSplitter()

    assert splitter.feed(b"\n\n\n: keep-alive\n\n") == []
    assert splitter.end() is None


@pytest.mark.parametrize("stream", [b"x" * 200, b"data: " + b"x" * 200, b"data: xxxxxxxxxxxx\n" * 20, b"data\n" * 200])
def test_an_event_without_end_is_given_up(stream: bytes) -> None:
    with pytest.raises(EventTooLong):
        EventSplitter(limit_bytes=100).feed(stream)


def test_an_event_is_written_as_it_is_read() -> None:
    assert EventSplitter().feed(event(b'{"a":1}')) == [b'{"a":1}']


def test_an_event_of_several_lines_is_passed_on_in_one() -> None:
    (payload,) = EventSplitter().feed(b'data: {"a":\ndata: 1}\n\n')

    assert event(payload) == b'data: {"a":1}\n\n'


def test_a_long_line_is_looked_at_once() -> None:
    splitter, began = EventSplitter(), time.process_time()
    for _ in range(900):
        splitter.feed(b"x" * 16384)

    assert time.process_time() - began < 1
