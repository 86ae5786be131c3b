"""Just enough of the ONNX format to write a graph whose weights lie elsewhere.

ONNX is Protocol Buffers; the numbers below are the field numbers of `onnx.proto` (version 10 of the format). Writing it
here saves the `onnx` package, which is larger than the runtime.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FLOAT: Final = 1
UINT8: Final = 2
INT8: Final = 3
INT32: Final = 6
"""Element types."""

_FORMAT: Final = 10
_OPERATORS: Final = {"": 20, "com.microsoft": 1}
_VARINT, _BYTES, _FIXED32 = 0, 2, 5
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT = 1, 2


@dataclass(frozen=True, slots=True)
class Tensor:
    """A named tensor; an axis that is a name is as long as the input makes it."""

    name: str
    type: int
    shape: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """One operator: what it reads and writes, by name. An empty name stands for an input that is left out."""

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    domain: str = ""
    attributes: Mapping[str, int | float] | None = None


def write_model(
    nodes: Sequence[Node], inputs: Sequence[Tensor], outputs: Sequence[Tensor], weights: Sequence[Tensor]
) -> bytes:
    """Return the model as the bytes of an `.onnx` file; its weights are named, and to be given to the session."""
    graph = b"".join(
        [
            *(_bytes(1, _node(node)) for node in nodes),
            _text(2, "graph"),
            *(_bytes(5, _weight(weight)) for weight in weights),
            *(_bytes(11, _value(tensor)) for tensor in inputs),
            *(_bytes(12, _value(tensor)) for tensor in outputs),
        ]
    )
    operators = (_bytes(8, _text(1, domain) + _int(2, version)) for domain, version in _OPERATORS.items())
    return _int(1, _FORMAT) + _bytes(7, graph) + b"".join(operators)


def _node(node: Node) -> bytes:
    return b"".join(
        [
            *(_text(1, name) for name in node.inputs),
            *(_text(2, name) for name in node.outputs),
            _text(4, node.operator),
            *(_bytes(5, _attribute(name, value)) for name, value in (node.attributes or {}).items()),
            _text(7, node.domain),
        ]
    )


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, int):
        return _text(1, name) + _int(3, value) + _int(20, _ATTRIBUTE_INT)
    return _text(1, name) + _key(2, _FIXED32) + struct.pack("<f", value) + _int(20, _ATTRIBUTE_FLOAT)


def _weight(weight: Tensor) -> bytes:
    sides = b"".join(_int(1, side) for side in weight.shape if isinstance(side, int))
    elsewhere = _bytes(13, _text(1, "location") + _text(2, "given")) + _int(14, 1)
    return sides + _int(2, weight.type) + _text(8, weight.name) + elsewhere


def _value(tensor: Tensor) -> bytes:
    sides = (_text(2, side) if isinstance(side, str) else _int(1, side) for side in tensor.shape)
    shape = b"".join(_bytes(1, side) for side in sides)
    return _text(1, tensor.name) + _bytes(2, _bytes(1, _int(1, tensor.type) + _bytes(2, shape)))


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _bytes(field: int, value: bytes) -> bytes:
    return _key(field, _BYTES) + _varint(len(value)) + value


def _int(field: int, value: int) -> bytes:
    return _key(field, _VARINT) + _varint(value)


def _key(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _varint(value: int) -> bytes:
    """Write a number of zero or more, seven bits to the byte, least first."""
    out = bytearray()
    while value > 0x7F:  # noqa: PLR2004  what seven bits hold
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
