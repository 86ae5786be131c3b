from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_engine.text.stream import TextMachine


def run(machine: TextMachine, pieces: list[bytes]) -> tuple[list[str], str | None]:
    """Feed pieces until a stop; return what was sent, with the flush, and the stop."""
    sent: list[str] = []
    for data in pieces:
        piece = machine.feed(data)
        sent.append(piece.text)
        if piece.stopped is not None:
            return sent, piece.stopped
    return [*sent, machine.flush()], None


def naive(text: str, stops: list[str], *, include: bool) -> tuple[str, str | None]:
    """Search the whole text: the stop that ends first, the longest of those that end together."""
    for end in range(len(text) + 1):
        ending = [stop for stop in stops if text[:end].endswith(stop)]
        if ending:
            stop = max(ending, key=len)
            return text[: end if include else end - len(stop)], stop
    return text, None


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


ALPHABET = "ab\n€𝄞"
CUTS = st.lists(st.integers(0, 400), max_size=12)


@given(
    text=st.text(ALPHABET, max_size=40),
    stops=st.lists(st.text(ALPHABET, min_size=1, max_size=5), max_size=4),
    places=CUTS,
    include=st.booleans(),
)
def test_any_cut_gives_what_a_search_of_the_whole_text_gives(
    text: str, stops: list[str], places: list[int], include: bool
) -> None:
    sent, stopped = run(TextMachine(stops, include), cut(text.encode(), places))
    expected, expected_stop = naive(text, stops, include=include)
    assert ("".join(sent), stopped) == (expected, expected_stop)


@given(text=st.text(ALPHABET, max_size=30), stops=st.lists(st.text(ALPHABET, min_size=1, max_size=5), max_size=4))
def test_what_is_held_back_is_the_shortest_ending_that_may_become_a_stop(text: str, stops: list[str]) -> None:
    machine, sent = TextMachine(stops, include_stop=False), ""
    for end, char in enumerate(text, start=1):
        piece = machine.feed(char.encode())
        sent += piece.text
        if piece.stopped is not None:
            return
        endings = [n for n in range(end + 1) if any(stop.startswith(text[end - n : end]) for stop in stops) or n == 0]
        assert text[:end].removeprefix(sent) == text[end - max(endings) : end]


@given(data=st.binary(max_size=60), places=CUTS)
def test_bytes_that_are_no_text_decode_as_they_would_in_one_go(data: bytes, places: list[int]) -> None:
    sent, _ = run(TextMachine([], include_stop=False), cut(data, places))
    assert "".join(sent) == data.decode(errors="replace")


@pytest.mark.parametrize("text", ["é", "漢字", "👩‍👩‍👧", "a€b𝄞c"])
def test_a_character_is_sent_whole_when_its_last_byte_is_there(text: str) -> None:
    machine = TextMachine([], include_stop=False)
    sent = [machine.feed(bytes([byte])).text for byte in text.encode()]
    assert "".join(sent) == text
    assert all(piece in {"", *text} for piece in sent)


def test_an_unfinished_character_becomes_a_replacement_when_flushed() -> None:
    machine = TextMachine(["never"], include_stop=False)
    assert machine.feed("a€".encode()[:-1]).text == "a"
    assert machine.flush() == "\ufffd"


def test_a_flush_gives_what_was_held_for_a_stop_that_did_not_come() -> None:
    machine = TextMachine(["</answer>"], include_stop=False)
    assert machine.feed(b"42</ans").text == "42"
    assert machine.flush() == "</ans"
    assert machine.flush() == ""


def test_nothing_follows_a_stop() -> None:
    machine = TextMachine(["END"], include_stop=False)
    assert machine.feed(b"one END two").text == "one "
    piece = machine.feed(b"three")
    assert (piece.text, piece.stopped, machine.flush()) == ("", "END", "")
