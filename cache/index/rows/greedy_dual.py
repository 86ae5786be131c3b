"""Who leaves a full index: what has saved least and was of use longest ago.

GreedyDual (Young, "The k-server dual and loose competitiveness for paging", 1994), with frequency as in Cherkasova's
GDSF (1998); all entries take the same room. An entry is worth what it has saved above a floor, and the floor is the
worth of the last one that left: what is not used is overtaken by time. The least is sought among a random sample, as
Redis does, because an order of a million entries would take more room than it saves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from random import Random

    from numpy.typing import NDArray

SAMPLE: Final = 64


class GreedyDual:
    """The worth of the rows of an arena.

    Attributes:
        worth: Of each row, shape [capacity].
        floor: The worth of the one that left last.
    """

    def __init__(self, capacity: int, chance: Random) -> None:
        """Judge so many rows.

        Args:
            capacity: How many rows there are.
            chance: Draws the samples.
        """
        self.worth: NDArray[np.float64] = np.zeros(capacity, np.float64)
        self._chance = chance
        self.floor = 0.0

    def enter(self, row: int, weight: float) -> None:
        """Let an entry begin."""
        self.worth[row] = self.floor + weight

    def used(self, row: int, saved: float) -> None:
        """Count what an entry has saved."""
        self.worth[row] = max(float(self.worth[row]), self.floor) + saved

    def least(self, stamps: NDArray[np.uint64]) -> int:
        """Choose the row that leaves when all are taken; of rows worth the same, the one written first."""
        all_rows = range(len(self.worth))
        rows = np.array(all_rows if len(all_rows) <= SAMPLE else self._chance.choices(all_rows, k=SAMPLE))
        row = int(rows[np.lexsort((stamps[rows], self.worth[rows]))[0]])
        self.floor = float(self.worth[row])
        return row
