"""A clock that is moved by hand."""

from dataclasses import dataclass


@dataclass
class HandClock:
    """Seconds that pass when the test says so."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now

    def pass_on(self, seconds: float) -> float:
        """Let time pass, and tell it."""
        self.now += seconds
        return self.now
