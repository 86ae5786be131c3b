"""Greedy-Dual-Size-Frequency: the order in which entries leave a cache that cost and weigh differently.

Cherkasova, "Improving WWW Proxies Performance with Greedy-Dual-Size-Frequency Caching Policy", HP Laboratories
HPL-98-69, 1998: an entry's priority is the clock plus what it saves per byte (frequency x cost / size). The lowest
leaves first, and the clock goes up to its priority, so that what is never asked for again falls behind in the end.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import count
from typing import Final

_SLACK: Final = 64
Place = tuple[float, int]
"""A priority, and of equal ones the older first."""


class GreedyDual:
    """Keys in the order in which they are to leave."""

    def __init__(self) -> None:
        """Begin with no keys, and the clock at nought."""
        self.clock = 0.0
        self._places: dict[bytes, Place] = {}
        self._heap: list[tuple[Place, bytes]] = []
        self._turns = count()

    def touch(self, key: bytes, worth: float) -> None:
        """Put a key in its place, or in a new one, by what it saves per byte."""
        self.restore(key, (self.clock + worth, next(self._turns)))

    def restore(self, key: bytes, place: Place) -> None:
        """Put a key where it was."""
        self._places[key] = place
        heappush(self._heap, (place, key))
        if len(self._heap) > 2 * len(self._places) + _SLACK:  # more of it is past than present
            self._heap = [(now, one) for one, now in self._places.items()]
            heapify(self._heap)

    def forget(self, key: bytes) -> None:
        """Take a key out; one that is not there is no error."""
        self._places.pop(key, None)

    def lowest(self) -> tuple[Place, bytes]:
        """Take out the key that is to leave first, and return it with its place.

        Raises:
            IndexError: There is no key.
        """
        while True:
            place, key = heappop(self._heap)
            if self._places.get(key) == place:
                del self._places[key]
                return place, key
