"""Typed reading of a file's metadata: a missing or misshapen key is the file's fault and says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from local_engine.errors import ModelFileInvalid

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from local_engine.load.gguf import Value


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of one file.

    All readers raise ModelFileInvalid when the key is absent and no default is given, or holds another type.
    """

    path: Path
    values: Mapping[str, Value]

    def integer(self, key: str, default: int | None = None) -> int:
        """Return an integer."""
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._wrong(key, "an integer")
        return value

    def size(self, key: str, limit: int, default: int | None = None) -> int:
        """Return an integer from 1 to `limit`."""
        value = self.integer(key, default)
        if not 1 <= value <= limit:
            raise self._wrong(key, f"from 1 to {limit}")
        return value

    def token(self, key: str, vocab: int) -> int | None:
        """Return a token id, or None when the key is absent."""
        if key not in self.values:
            return None
        value = self.integer(key)
        if not 0 <= value < vocab:
            raise self._wrong(key, f"a token of {vocab}")
        return value

    def number(self, key: str) -> float:
        """Return a positive finite number."""
        value = self.values.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise self._wrong(key, "a positive number")
        return float(value)

    def flag(self, key: str, *, default: bool) -> bool:
        """Return a boolean."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def text(self, key: str) -> str:
        """Return a text."""
        value = self.values.get(key)
        if not isinstance(value, str):
            raise self._wrong(key, "a text")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return an array of texts."""
        value = self.values.get(key)
        texts = tuple(item for item in value if isinstance(item, str)) if isinstance(value, tuple) else None
        if texts is None or texts != value:
            raise self._wrong(key, "an array of texts")
        return texts

    def integers(self, key: str) -> tuple[int, ...]:
        """Return an array of integers."""
        value = self.values.get(key)
        numbers = tuple(item for item in value if isinstance(item, int)) if isinstance(value, tuple) else None
        if numbers is None or len(numbers) != len(value if isinstance(value, tuple) else ()):
            raise self._wrong(key, "an array of integers")
        return numbers

    def _wrong(self, key: str, expected: str) -> ModelFileInvalid:
        found = "is missing" if key not in self.values else f"is not {expected}"
        return ModelFileInvalid(self.path, f"metadata key {key!r} {found}")
