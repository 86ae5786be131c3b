"""When a waiting sequence may join: the difference between static, dynamic and continuous batching.

All three run on the same scheduler, so they can be compared fairly. Static batching takes what is there and runs it to
the end; dynamic batching first waits a moment for a batch to fill; continuous batching (Orca, OSDI 2022) lets a
sequence join at any step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, assert_never

from local_engine.config import AdmissionKind

if TYPE_CHECKING:
    from local_engine.config import Batching


class Admission(Protocol):
    """Decides how many waiting sequences may join a step."""

    @property
    def joins_running(self) -> bool:
        """Whether sequences may join while others run."""
        ...

    def places(self, *, waiting: int, running: int, waited_s: float) -> int:
        """Return how many may join now.

        Args:
            waiting: Sequences that wait.
            running: Sequences that run.
            waited_s: How long the first of those that wait has waited, in seconds.
        """
        ...


@dataclass(frozen=True, slots=True)
class Continuous:
    """Join whenever there is a place."""

    max_running: int
    joins_running: bool = True

    def places(self, *, waiting: int, running: int, waited_s: float) -> int:
        """Return the places that are left."""
        del waiting, waited_s
        return self.max_running - running


@dataclass(frozen=True, slots=True)
class Static:
    """Join only an empty engine; nobody else joins until the whole batch is done."""

    max_running: int
    joins_running: bool = False

    def places(self, *, waiting: int, running: int, waited_s: float) -> int:
        """Return all places when nothing runs, else none."""
        del waiting, waited_s
        return 0 if running else self.max_running


@dataclass(frozen=True, slots=True)
class Dynamic:
    """Like static, but an empty engine waits up to `window_s` seconds for a full batch."""

    max_running: int
    window_s: float
    joins_running: bool = False

    def places(self, *, waiting: int, running: int, waited_s: float) -> int:
        """Return all places once the batch is full or its first member has waited long enough."""
        is_due = waiting >= self.max_running or waited_s >= self.window_s
        return self.max_running if is_due and not running else 0


def admission_of(batching: Batching) -> Admission:
    """Return the policy that the settings name."""
    match batching.admission:
        case AdmissionKind.CONTINUOUS:
            return Continuous(batching.max_running)
        case AdmissionKind.STATIC:
            return Static(batching.max_running)
        case AdmissionKind.DYNAMIC:
            return Dynamic(batching.max_running, batching.window_s)
        case _:
            assert_never(batching.admission)
