"""A clock that is moved by hand."""

from dataclasses import dataclass


@dataclass
class HandClock:
    """Seconds that pass when the test says so."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now
