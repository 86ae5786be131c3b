"""Read a safetensors file: a JSON table of names, types, shapes and places, then the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_PREFIX = 8
"""Bytes before the table: its length."""


class _Place(msgspec.Struct):
    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


def read_weights(path: Path) -> dict[str, NDArray[np.float32]]:
    """Return a file's float32 tensors by name, mapped and not copied; others are left out.

    Raises:
        ValueError: It is not such a file.
    """
    mapped = np.memmap(path, dtype=np.uint8, mode="r")
    end = _PREFIX + int.from_bytes(mapped[:_PREFIX].tobytes(), "little")
    table = msgspec.json.decode(mapped[_PREFIX:end].tobytes(), type=dict[str, msgspec.Raw])
    table.pop("__metadata__", None)
    places = {name: msgspec.json.decode(raw, type=_Place) for name, raw in table.items()}
    return {
        name: mapped[end + place.data_offsets[0] : end + place.data_offsets[1]].view(np.float32).reshape(place.shape)
        for name, place in places.items()
        if place.dtype == "F32"
    }
