"""Frames: records in a file, each of which proves that it is whole.

    magic (4 bytes) | length (u32) | CRC-32 of length and payload (u32) | payload

All numbers are little-endian. A reader that meets anything else looks for the next magic, so damage costs the records
that it hit and no other. The magic begins with a byte that no UTF-8 text has: no name a caller chooses can pose as a
frame.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import Final
from zlib import crc32

MAGIC: Final = b"\xffSL1"
_HEADER: Final = Struct("<4sII")
_LENGTH: Final = Struct("<I")
LARGEST: Final = 16 * 1024 * 1024
"""No record is near this; a length above it is damage."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A whole record and where it lies: `start` is its first byte in the file, `end` the first one after it."""

    start: int
    end: int
    payload: bytes


def framed(payload: bytes) -> bytes:
    """Return a record as it is written."""
    return _HEADER.pack(MAGIC, len(payload), _checksum(payload)) + payload


def frames(data: bytes, start: int = 0) -> Iterator[Frame]:
    """Find every whole record at or after an offset, in order."""
    while (start := data.find(MAGIC, start)) >= 0:
        frame = _frame_at(data, start)
        if frame is None:
            start += 1
        else:
            yield frame
            start = frame.end


def is_blank(data: bytes, start: int, end: int) -> bool:
    """Tell whether a stretch of a file was never written: space that was set aside reads as zeros."""
    return not data[start:end].strip(b"\0")


def _frame_at(data: bytes, start: int) -> Frame | None:
    body = start + _HEADER.size
    if body > len(data):
        return None
    _, length, checksum = _HEADER.unpack_from(data, start)
    if length > LARGEST or body + length > len(data):
        return None
    payload = data[body : body + length]
    return Frame(start, body + length, payload) if _checksum(payload) == checksum else None


def _checksum(payload: bytes) -> int:
    return crc32(payload, crc32(_LENGTH.pack(len(payload))))
