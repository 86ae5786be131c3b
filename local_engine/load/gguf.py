"""The GGUF container, versions 2 and 3: metadata and a directory of tensors over a mapped file.

Spec: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import math
import mmap
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from local_engine.errors import ModelFileInvalid
from local_engine.load.blocks import ENCODINGS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from local_engine.load.blocks import Encoding

Scalar: TypeAlias = int | float | bool | str
Value: TypeAlias = Scalar | tuple[Scalar, ...]

_MAGIC: Final = b"GGUF"
_VERSIONS: Final = (2, 3)
_MAX_ENTRIES: Final = 65_536
_MAX_ARRAY: Final = 4_194_304
_MAX_STRING: Final = 16_777_216
_MAX_DIMENSIONS: Final = 4
_STRING: Final = 8
_ARRAY: Final = 9
_NUMBERS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


class _Malformed(Exception):
    """What the bytes got wrong; becomes ModelFileInvalid where the path is known."""


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """One tensor of the directory.

    Attributes:
        shape: Rows first, the reverse of the file's order.
        encoding: How its values are stored.
        offset: Its first byte, from the start of the file.
        nbytes: Its length; checked to lie inside the file.
    """

    shape: tuple[int, ...]
    encoding: Encoding
    offset: int
    nbytes: int


@dataclass(frozen=True, slots=True, eq=False)
class GgufFile:
    """An opened file.

    Attributes:
        path: Where it lies.
        metadata: Keys and values.
        tensors: The directory, by name.
        data: The whole file, mapped copy-on-write: tensors may view it and never change it on disk.
    """

    path: Path
    metadata: Mapping[str, Value]
    tensors: Mapping[str, TensorEntry]
    data: mmap.mmap


def read_gguf(path: Path) -> GgufFile:
    """Map a file and read all of it but the tensors' values.

    Raises:
        ModelFileInvalid: The file is not GGUF, is cut short, or contradicts itself.
        OSError: The file cannot be opened.
    """
    with path.open("rb") as file:
        try:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        except ValueError as error:  # an empty file cannot be mapped
            raise ModelFileInvalid(path, "the file is empty") from error
    try:
        metadata, tensors = _read_header(_Cursor(data))
    except _Malformed as error:
        data.close()
        raise ModelFileInvalid(path, str(error)) from error
    return GgufFile(path, metadata, tensors, data)


class _Cursor:
    """Reads forward and never past the end."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self.at = 0
        self.size = len(data)

    def numbers(self, code: str, count: int) -> tuple[Scalar, ...]:
        """Read `count` little-endian numbers of one struct code."""
        at = self._advance(count * struct.calcsize(f"<{code}"))
        return struct.unpack_from(f"<{count}{code}", self._data, at)

    def unsigned(self, code: str) -> int:
        """Read one unsigned number."""
        at = self._advance(struct.calcsize(f"<{code}"))
        (value,) = struct.unpack_from(f"<{code}", self._data, at)
        return value

    def count(self, limit: int, what: str) -> int:
        """Read a 64-bit count and hold it to a limit."""
        value = self.unsigned("Q")
        if value > limit:
            raise _Malformed(f"{value} {what}, more than {limit}")
        return value

    def string(self) -> str:
        """Read a length and that many bytes of UTF-8."""
        length = self.count(_MAX_STRING, "bytes in a string")
        at = self._advance(length)
        try:
            return self._data[at : at + length].decode()
        except UnicodeDecodeError as error:
            raise _Malformed(f"the string at byte {at} is not UTF-8") from error

    def _advance(self, length: int) -> int:
        at = self.at
        if at + length > self.size:
            raise _Malformed(f"cut short: {length} bytes at byte {at}, the file has {self.size}")
        self.at = at + length
        return at


def _read_header(cursor: _Cursor) -> tuple[dict[str, Value], dict[str, TensorEntry]]:
    if bytes(cursor.unsigned("B") for _ in _MAGIC) != _MAGIC:
        raise _Malformed("no GGUF file")
    version = cursor.unsigned("I")
    if version not in _VERSIONS:
        raise _Malformed(f"GGUF version {version} is not read (versions 2 and 3 are)")
    tensor_count = cursor.count(_MAX_ENTRIES, "tensors")
    key_count = cursor.count(_MAX_ENTRIES, "metadata keys")
    metadata: dict[str, Value] = {}
    for _ in range(key_count):
        key = cursor.string()
        if key in metadata:
            raise _Malformed(f"metadata key {key!r} twice")
        metadata[key] = _read_value(cursor, cursor.unsigned("I"))
    return metadata, _read_directory(cursor, tensor_count, _alignment(metadata))


def _read_value(cursor: _Cursor, kind: int) -> Value:
    if kind == _STRING:
        return cursor.string()
    if kind in _NUMBERS:
        return cursor.numbers(_NUMBERS[kind], 1)[0]
    if kind != _ARRAY:
        raise _Malformed(f"metadata type {kind} is not known")
    item = cursor.unsigned("I")
    count = cursor.count(_MAX_ARRAY, "items in an array")
    if item == _STRING:
        return tuple(cursor.string() for _ in range(count))
    if item not in _NUMBERS:
        raise _Malformed(f"arrays of metadata type {item} are not read")
    return cursor.numbers(_NUMBERS[item], count)


def _alignment(metadata: Mapping[str, Value]) -> int:
    value = metadata.get("general.alignment", 32)
    if not isinstance(value, int) or not 1 <= value <= _MAX_ENTRIES or value & (value - 1):
        raise _Malformed(f"alignment {value!r} is no power of two")
    return value


def _read_directory(cursor: _Cursor, count: int, alignment: int) -> dict[str, TensorEntry]:
    named = [_read_entry(cursor) for _ in range(count)]
    base = -(-cursor.at // alignment) * alignment
    tensors: dict[str, TensorEntry] = {}
    for name, entry in named:
        placed = TensorEntry(entry.shape, entry.encoding, base + entry.offset, entry.nbytes)
        if name in tensors:
            raise _Malformed(f"tensor {name!r} twice")
        if entry.offset % alignment:
            raise _Malformed(f"tensor {name!r} is not aligned to {alignment} bytes")
        if placed.offset + placed.nbytes > cursor.size:
            raise _Malformed(f"cut short: tensor {name!r} ends past the end of the file")
        tensors[name] = placed
    return tensors


def _read_entry(cursor: _Cursor) -> tuple[str, TensorEntry]:
    """Read one entry; its offset is still relative to the tensor data."""
    name = cursor.string()
    dimensions = cursor.unsigned("I")
    if not 1 <= dimensions <= _MAX_DIMENSIONS:
        raise _Malformed(f"tensor {name!r} has {dimensions} dimensions")
    shape = tuple(cursor.unsigned("Q") for _ in range(dimensions))[::-1]
    code, offset = cursor.unsigned("I"), cursor.unsigned("Q")
    encoding = ENCODINGS.get(code)
    if encoding is None:
        raise _Malformed(f"tensor {name!r} has encoding {code}, which is not read")
    if not all(shape) or shape[-1] % encoding.block:
        raise _Malformed(f"tensor {name!r} of shape {shape} is no whole number of {encoding.name} blocks")
    return name, TensorEntry(shape, encoding, offset, math.prod(shape) // encoding.block * encoding.block_bytes)
