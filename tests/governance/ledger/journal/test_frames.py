"""Frames: damage costs what it hits and nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from governance.ledger.journal.frames import MAGIC, framed, frames, is_blank

payloads = st.lists(st.one_of(st.binary(max_size=40), st.just(MAGIC), st.just(b"\0" * 9)), max_size=8)


def read(data: bytes, start: int = 0) -> list[bytes]:
    return [frame.payload for frame in frames(data, start)]


@given(payloads, st.integers(0, 100))
def test_what_is_written_is_read_whatever_blank_space_follows(records: list[bytes], blank: int) -> None:
    assert read(b"".join(map(framed, records)) + b"\0" * blank) == records


@given(payloads.filter(bool), st.data())
def test_a_file_cut_at_any_byte_has_every_record_before_the_cut(records: list[bytes], data: st.DataObject) -> None:
    written = b"".join(map(framed, records))
    cut = data.draw(st.integers(0, len(written)))
    ends = [frame.end for frame in frames(written)]
    assert read(written[:cut]) == records[: sum(end <= cut for end in ends)]


@given(payloads.filter(bool), st.data())
def test_a_flipped_byte_costs_one_record(records: list[bytes], data: st.DataObject) -> None:
    written = bytearray(b"".join(map(framed, records)))
    at = data.draw(st.integers(0, len(written) - 1))
    hit = next(number for number, frame in enumerate(frames(bytes(written))) if at < frame.end)
    written[at] ^= data.draw(st.integers(1, 255))
    assert read(bytes(written)) == records[:hit] + records[hit + 1 :]


@given(payloads.filter(bool), st.data())
def test_reading_can_begin_after_any_record(records: list[bytes], data: st.DataObject) -> None:
    written = b"".join(map(framed, records))
    number = data.draw(st.integers(0, len(records) - 1))
    assert read(written, [frame.end for frame in frames(written)][number]) == records[number + 1 :]


def test_places_are_those_of_the_file() -> None:
    one, two = framed(b"one"), framed(b"two")
    found = [(frame.start, frame.end) for frame in frames(one + b"noise" + two)]
    assert found == [(0, len(one)), (len(one) + 5, len(one) + 5 + len(two))]


def test_only_zeros_are_blank() -> None:
    assert is_blank(b"x\0\0y", 1, 3)
    assert is_blank(b"", 0, 0)
    assert not is_blank(b"x\0\0y", 1, 4)
