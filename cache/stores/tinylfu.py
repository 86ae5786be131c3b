"""TinyLFU: how often keys have been asked for lately, in a few bytes for each.

Einziger, Friedman and Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", ACM Transactions on Storage 13(4),
2017: a count-min sketch with conservative update, whose counters are all halved after so many additions, so that what
was once popular does not stay so for ever. What is asked for once does not drive out what is asked for often.
"""

from __future__ import annotations

from typing import Final

_MOST: Final = 15
_SAMPLE: Final = 10
_WIDEST: Final = 2**16
_HALVES: Final = bytes(count >> 1 for count in range(256))


class FrequencySketch:
    """Estimates how often each key was added, never too low but for the ageing, and 15 at the most."""

    def __init__(self, keys: int) -> None:
        """Begin with nothing counted.

        Args:
            keys: How many different keys are to be told apart; more make estimates too high, never wrong in kind.
        """
        width = min(_WIDEST, 1 << max(6, (max(1, keys) - 1).bit_length()))
        self._mask = width - 1
        self._rows = (bytearray(width), bytearray(width), bytearray(width), bytearray(width))
        self._sample = _SAMPLE * width
        self._added = 0

    def add(self, key: bytes) -> int:
        """Count a key once more, and return the new estimate."""
        digest, mask = hash(key), self._mask
        first, second, third, fourth = self._rows
        a, b, c, d = digest & mask, digest >> 16 & mask, digest >> 32 & mask, digest >> 48 & mask
        least = min(first[a], second[b], third[c], fourth[d])
        if least < _MOST:
            for row, place in ((first, a), (second, b), (third, c), (fourth, d)):
                if row[place] == least:
                    row[place] = least + 1
            least += 1
        self._added += 1
        if self._added >= self._sample:
            self._age()
        return least

    def estimate(self, key: bytes) -> int:
        """Return how often a key was added."""
        digest, mask = hash(key), self._mask
        return min(row[digest >> 16 * place & mask] for place, row in enumerate(self._rows))

    def _age(self) -> None:
        for row in self._rows:
            row[:] = row.translate(_HALVES)
        self._added //= 2
