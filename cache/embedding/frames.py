"""What an embedding and its process say to each other: MessagePack, each message behind its length in four bytes.

The process says `Ready` or `Failed` once, then answers each `Texts` with `Vectors` or `Failed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Final

import msgspec

if TYPE_CHECKING:
    from asyncio import StreamReader

_LENGTH: Final = 4
_LONGEST: Final = 64 << 20


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The model is loaded; its vectors have so many dimensions."""

    dimensions: int


class Texts(msgspec.Struct, frozen=True, tag=True):
    """Texts to embed."""

    texts: tuple[str, ...]


class Vectors(msgspec.Struct, frozen=True, tag=True):
    """Their vectors, one after the other, in float32 of this machine's byte order."""

    numbers: bytes


class Failed(msgspec.Struct, frozen=True, tag=True):
    """It did not work, and why."""

    reason: str


Message = Ready | Texts | Vectors | Failed

_decoder: Final = msgspec.msgpack.Decoder(Message)


class BadFrame(Exception):
    """The other side speaks something else."""


def write_frame(message: Message) -> bytes:
    """Return the bytes that carry a message."""
    payload = msgspec.msgpack.encode(message)
    return len(payload).to_bytes(_LENGTH, "big") + payload


async def read_frame(reader: StreamReader) -> Message:
    """Await a message.

    Raises:
        BadFrame: What came is none.
        IncompleteReadError: The other side has left.
    """
    length = _checked(await reader.readexactly(_LENGTH))
    return _decoded(await reader.readexactly(length))


def next_frame(stream: BinaryIO) -> Message | None:
    """Wait for a message on a blocking stream; None at its end.

    Raises:
        BadFrame: What came is none.
    """
    prefix = stream.read(_LENGTH)
    return _decoded(stream.read(_checked(prefix))) if len(prefix) == _LENGTH else None


def _checked(prefix: bytes) -> int:
    length = int.from_bytes(prefix, "big")
    if length > _LONGEST:
        raise BadFrame
    return length


def _decoded(payload: bytes) -> Message:
    try:
        return _decoder.decode(payload)
    except msgspec.MsgspecError as error:
        raise BadFrame from error
