"""Measure in rounds, so that what else a machine does shows as spread and not as a figure."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Final

BARE_ADDITIONS: Final = 1_000
"""What a bare loop does, to which costs are set in proportion: it depends on the machine as they do."""

_BARE_LOOPS: Final = 200


@dataclass(frozen=True, slots=True)
class Figure:
    """What rounds came to, in microseconds of CPU for one piece of work.

    Attributes:
        median: The middle one of the rounds.
        least: The quickest round.
        most: The slowest one.
        bare_loop: The median of a bare loop of 1,000 additions, measured in between.
    """

    median: float
    least: float
    most: float
    bare_loop: float

    @property
    def ratio(self) -> float:
        """How many bare loops it takes."""
        return self.median / self.bare_loop


async def measure(work: Callable[[int], Awaitable[None]], rounds: Sequence[range]) -> Figure:
    """Do each round's numbered pieces of work one after the other, all threads of this process counted."""
    each, bare = list[float](), list[float]()
    for numbers in rounds:
        bare.append(_bare_loop())
        began = process_time()
        for number in numbers:
            await work(number)
        each.append((process_time() - began) / len(numbers) * 1e6)
    return Figure(median(each), min(each), max(each), median(bare))


def _bare_loop() -> float:
    began = process_time()
    for _ in range(_BARE_LOOPS):
        total = 0
        for number in range(BARE_ADDITIONS):
            total += number
    return (process_time() - began) / _BARE_LOOPS * 1e6
