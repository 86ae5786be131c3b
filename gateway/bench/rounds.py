"""Measure in rounds, so that what else a machine does shows as spread and not as a figure."""

import gc
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Final

Work = Callable[[int], Awaitable[None]]
"""One piece of work, by its place in its round."""

BARE_ADDITIONS: Final = 1_000
"""What a bare loop does; costs are set in proportion to it, because it depends on the machine as they do."""

_BARE_LOOPS: Final = 200


@dataclass(frozen=True, slots=True)
class Figure:
    """What rounds came to, in microseconds of CPU for one piece of work.

    Attributes:
        median: The middle one of the rounds.
        least: The quickest round.
        most: The slowest one.
        bare_loop: The median of a bare loop of 1,000 additions, measured beside each round.
        ratio: How many of them it takes: the median of the rounds.
    """

    median: float
    least: float
    most: float
    bare_loop: float
    ratio: float


async def measure(
    opened: Callable[[int], AbstractAsyncContextManager[Work]], *, rounds: int, warm_up: int, size: int
) -> Figure:
    """Do rounds of work, one piece after the other; all threads of this process count.

    Args:
        opened: Prepares the round of a number, and tidies up after it; neither counts.
        rounds: How many.
        warm_up: Pieces of work at the start of each round that do not count.
        size: Pieces of work that do.
    """
    each, bare = list[float](), list[float]()
    for number in range(rounds):
        async with opened(number) as work:
            for place in range(warm_up):
                await work(place)
            bare.append(_bare_loop())
            gc.collect()
            began = process_time()
            for place in range(warm_up, warm_up + size):
                await work(place)
            each.append((process_time() - began) / size * 1e6)
    ratio = median([work / loop for work, loop in zip(each, bare, strict=True)])
    return Figure(median(each), min(each), max(each), median(bare), ratio)


def _bare_loop() -> float:
    began = process_time()
    for _ in range(_BARE_LOOPS):
        total = 0
        for number in range(BARE_ADDITIONS):
            total += number
    return (process_time() - began) / _BARE_LOOPS * 1e6
