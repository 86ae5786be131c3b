"""The bytes of a stream become its events, however they fall, or the provider is blamed."""

import struct
from binascii import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.dialects.converse.frames import Frame, Frames
from gateway.errors import UpstreamError
from tests.support.providers.framing import binary

EVENTS = [
    ("event", "messageStart", {"role": "assistant"}),
    ("event", "contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Zürich 🙂"}}),
    ("exception", "throttlingException", {"message": "Too many."}),
]
STREAM = b"".join(binary(*event) for event in EVENTS)


def framed(headers: bytes, payload: bytes) -> bytes:
    lengths = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    frame = lengths + struct.pack("!I", crc32(lengths)) + headers + payload
    return frame + struct.pack("!I", crc32(frame))


def header(name: str, value: str) -> bytes:
    return bytes([len(name)]) + name.encode() + b"\x07" + struct.pack("!H", len(value)) + value.encode()


def feed(*reads: bytes) -> list[Frame]:
    frames = Frames("aws")
    return [frame for read in reads for frame in frames.feed(read)]


def test_a_stream_cut_at_any_byte_gives_the_same_events() -> None:
    whole = feed(STREAM)
    assert [(frame.name, frame.data) for frame in whole] == [(name, data) for _, name, data in EVENTS]
    assert all(feed(STREAM[:cut], STREAM[cut:]) == whole for cut in range(len(STREAM)))


def test_a_stream_that_comes_byte_by_byte_gives_the_same_events() -> None:
    assert feed(*(STREAM[at : at + 1] for at in range(len(STREAM)))) == feed(STREAM)


def test_a_payload_is_kept_as_it_came() -> None:
    assert all(frame.payload in STREAM for frame in feed(STREAM))


@given(st.integers(0, len(STREAM) - 1), st.integers(1, 255))
def test_a_damaged_byte_is_noticed(at: int, change: int) -> None:
    damaged = bytearray(STREAM)
    damaged[at] ^= change
    frames = Frames("aws")
    with pytest.raises(UpstreamError, match="damaged"):
        frames.feed(bytes(damaged))


def test_an_error_without_a_model_is_an_exception_that_tells_its_code() -> None:
    headers = header(":message-type", "error") + header(":error-code", "InternalError")
    frame = framed(headers + header(":error-message", "Oh."), b"")

    assert feed(frame) == [Frame("unmodeledException", b"", {"message": "InternalError: Oh."})]


@pytest.mark.parametrize(
    "frame",
    [
        framed(b"", b"{}"),
        framed(header(":message-type", "event"), b"{}"),
        framed(header(":message-type", "event") + header(":event-type", "x"), b"[]"),
        framed(header(":message-type", "event") + header(":event-type", "x"), b"{"),
        framed(header(":message-type", "event") + header(":event-type", "x"), b"[" * 100_000),
        framed(b"\x01x\x63", b"{}"),
        b'{"message":"not a frame at all"}',
    ],
    ids=["no headers", "no name", "a list", "half an object", "too deep", "an unknown type", "json"],
)
def test_what_is_no_event_is_the_providers_fault(frame: bytes) -> None:
    with pytest.raises(UpstreamError, match="damaged"):
        feed(frame)


def test_a_frame_that_is_not_complete_says_nothing() -> None:
    assert feed(STREAM[:-1]) == feed(STREAM)[:-1]
