"""The seconds of one machine, divided among the models that are at work on it.

While n are at work, a second gives each of them 1/n of it (processor sharing). So the seconds of all together are those
in which any was at work, none counted twice and no idle one counted.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


@dataclass(slots=True)
class Turn:
    """One stretch of work; `seconds` of the machine were its own, known once it is over."""

    seconds: float = 0.0


class Machine:
    """One machine, and how many are at work on it; any thread may be.

    Args:
        clock: Seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._lock = threading.Lock()
        self._at_work = 0
        self._each_s = 0.0  # of one who had been at work all the time
        self._since_s = clock()

    @contextmanager
    def at_work(self) -> Generator[Turn]:
        """Be at work until the context is left."""
        turn = Turn()
        began = self._pass(1)
        try:
            yield turn
        finally:
            turn.seconds = self._pass(-1) - began

    def _pass(self, more: int) -> float:
        with self._lock:
            now_s = self.clock()
            self._each_s += (now_s - self._since_s) / max(1, self._at_work)
            self._since_s = now_s
            self._at_work += more
            return self._each_s
