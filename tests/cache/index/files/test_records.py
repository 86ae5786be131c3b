from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cache.index.files.records import Change, Kind, Origin, origin_of, read
from cache.index.rows.quantised import encode
from gateway.bench.vectors import clustered

ORIGIN = Origin("minilm", 21)
CHANGES = [
    *[Change(Kind.ADD, b"p" * 32, b"k" * 32, encode(vector), 2.5) for vector in clustered(3, 1, dimensions=21)],
    Change(Kind.REMOVE, b"q" * 32, b"k" * 32),
    Change(Kind.CLEAR, b"q" * 32),
]


def test_records_come_back_as_they_were_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(ORIGIN.head + ORIGIN.records(CHANGES).tobytes())
    assert origin_of(file) == ORIGIN
    (block,) = read(file, ORIGIN)
    assert block.sound.all()
    for record, change in zip(block.records, CHANGES, strict=True):
        assert (record["kind"], record["weight"]) == (change.kind, change.weight)
        assert record["partition"].tobytes() == change.partition
        assert record["key"].tobytes() == (change.key or bytes(32))
        assert np.array_equal(record["codes"], np.zeros(21) if change.codes is None else change.codes)


@given(place=st.integers(0, ORIGIN.layout.itemsize * len(CHANGES) - 1), damage=st.integers(1, 255))
def test_no_damaged_byte_goes_unseen(place: int, damage: int) -> None:
    data = bytearray(ORIGIN.records(CHANGES).tobytes())
    data[place] ^= damage
    records = np.frombuffer(bytes(data), ORIGIN.layout)
    sound = records["sum"] == ORIGIN.sums(records)
    assert np.flatnonzero(~sound).tolist() == [place // ORIGIN.layout.itemsize]


def test_empty_space_is_no_record() -> None:
    records = np.zeros(3, ORIGIN.layout)
    assert not (records["sum"] == ORIGIN.sums(records)).any()


def test_records_of_another_embedding_are_not_sound() -> None:
    records = ORIGIN.records(CHANGES)
    assert not (records["sum"] == Origin("another", 21).sums(records)).any()


def test_a_head_that_is_none_names_no_origin(tmp_path: Path) -> None:
    file = tmp_path / "file"
    for text in (b"", b"[", b"[1, 2, 3]\n", b'["other", "e", 3]\n', b"\xff\xfe\n"):
        file.write_bytes(text)
        assert origin_of(file) is None
    assert origin_of(tmp_path / "nothing") is None
