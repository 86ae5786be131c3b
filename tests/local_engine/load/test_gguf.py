import struct
from pathlib import Path

import gguf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local_engine.errors import ModelFileInvalid
from local_engine.load.gguf import read_gguf
from local_engine.load.model_file import open_model
from tests.support.tiny_gguf import write_tiny_gguf


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gguf") / "broken.gguf"


def read_fully(path: Path) -> None:
    open_model(path).read_weights()


def header_size(path: Path) -> int:
    return min(entry.offset for entry in read_gguf(path).tensors.values())


def test_it_reads_what_the_reference_reader_reads(tiny: Path) -> None:
    ours, reference = read_gguf(tiny), gguf.GGUFReader(tiny)
    for key, value in ours.metadata.items():
        field = reference.fields[key]
        assert value == (tuple(field.contents()) if isinstance(value, tuple) else field.contents())
    assert [
        (name, entry.shape, entry.encoding.name, entry.offset, entry.nbytes) for name, entry in ours.tensors.items()
    ] == [
        (t.name, tuple(t.shape.tolist()[::-1]), t.tensor_type.name, t.data_offset, t.n_bytes) for t in reference.tensors
    ]


def test_a_file_cut_anywhere_is_refused(tiny: Path, scratch: Path) -> None:
    whole = tiny.read_bytes()
    header = header_size(tiny)
    lengths = {*range(256), *range(256, header, 97), *range(header, len(whole), 1009), len(whole) - 1}
    for length in lengths:
        scratch.write_bytes(whole[:length])
        with pytest.raises(ModelFileInvalid):
            read_fully(scratch)


@settings(max_examples=300)
@given(place=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_a_header_with_any_byte_changed_is_refused_or_read_and_never_worse(
    tiny: Path, scratch: Path, place: float, byte: int
) -> None:
    data = bytearray(tiny.read_bytes())
    data[int(place * header_size(tiny))] = byte
    scratch.write_bytes(data)
    try:
        read_fully(scratch)
    except ModelFileInvalid as refused:
        assert refused.path == scratch  # noqa: PT017  # either outcome is right; any other exception is not


@settings(max_examples=200)
@given(data=st.binary(max_size=200))
def test_noise_after_a_valid_start_is_refused(scratch: Path, data: bytes) -> None:
    scratch.write_bytes(b"GGUF" + struct.pack("<I", 3) + data)
    with pytest.raises(ModelFileInvalid):
        read_fully(scratch)


def start(*, tensors: int = 0, keys: int = 0, version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, keys)


def text(value: bytes) -> bytes:
    return struct.pack("<Q", len(value)) + value


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"GGML" + bytes(60), "no GGUF"),
        (start(version=1), "version 1"),
        (start(version=0x03000000), "version"),
        (start(tensors=2**63), "tensors, more than"),
        (start(keys=2**40), "metadata keys, more than"),
        (start(keys=1) + struct.pack("<Q", 2**62), "bytes in a string"),
        (start(keys=1) + struct.pack("<Q", 1 << 20) + b"short", "cut short"),
        (start(keys=1) + text(b"\xff\xfe"), "not UTF-8"),
        (start(keys=1) + text(b"k") + struct.pack("<I", 77), "type 77"),
        (start(keys=1) + text(b"k") + struct.pack("<IIQ", 9, 4, 2**60), "items in an array"),
        (start(keys=1) + text(b"k") + struct.pack("<IIQ", 9, 4, 1 << 20), "cut short"),
        (start(keys=1) + text(b"k") + struct.pack("<IIQ", 9, 9, 1), "arrays of metadata type 9"),
        (start(keys=2) + (text(b"k") + struct.pack("<IB", 0, 1)) * 2, "'k' twice"),
        (start(keys=1) + text(b"general.alignment") + struct.pack("<II", 4, 33), "alignment 33"),
        (start(keys=1) + text(b"general.alignment") + struct.pack("<II", 4, 0), "alignment 0"),
        (start(tensors=1) + text(b"t") + struct.pack("<I", 0), "0 dimensions"),
        (start(tensors=1) + text(b"t") + struct.pack("<I", 9), "9 dimensions"),
        (start(tensors=1) + text(b"t") + struct.pack("<IQIQ", 1, 4, 14, 0), "encoding 14"),
        (start(tensors=1) + text(b"t") + struct.pack("<IQIQ", 1, 31, 3, 0), "no whole number of Q4_1 blocks"),
        (start(tensors=1) + text(b"t") + struct.pack("<IQIQ", 1, 0, 0, 0), "no whole number"),
        (start(tensors=1) + text(b"t") + struct.pack("<IQIQ", 1, 4, 0, 8) + bytes(64), "not aligned"),
        (start(tensors=1) + text(b"t") + struct.pack("<IQQIQ", 2, 2**62, 2**62, 0, 0) + bytes(64), "past the end"),
        (start(tensors=1) + text(b"t") + struct.pack("<IQIQ", 1, 4, 0, 2**63) + bytes(64), "past the end"),
        (start(tensors=2) + (text(b"t") + struct.pack("<IQIQ", 1, 4, 0, 0)) * 2 + bytes(64), "'t' twice"),
    ],
)
def test_each_hostile_file_is_refused_with_its_reason(scratch: Path, data: bytes, reason: str) -> None:
    scratch.write_bytes(data)
    with pytest.raises(ModelFileInvalid, match=reason):
        read_gguf(scratch)


def test_a_file_that_is_not_there_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_gguf(tmp_path / "nothing.gguf")
