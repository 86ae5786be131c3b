"""Many read what one changes now and then: readers go in together, a writer alone and before readers to come."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator


class Sharing:
    """Lets readers and writers in, from any thread."""

    def __init__(self) -> None:
        """Let everybody in."""
        self._change = threading.Condition()
        self._readers = 0
        self._waiting = 0

    @contextmanager
    def reading(self) -> Generator[None]:
        """Read for the length of the block."""
        with self._change:
            self._change.wait_for(lambda: not self._waiting)
            self._readers += 1
        try:
            yield
        finally:
            with self._change:
                self._readers -= 1
                self._change.notify_all()

    @contextmanager
    def writing(self) -> Generator[None]:
        """Write for the length of the block."""
        with self._change:
            self._waiting += 1
            self._change.wait_for(lambda: not self._readers)
            self._waiting -= 1
            try:
                yield
            finally:
                self._change.notify_all()
