"""How many interactive requests this process is answering: deferred work looks before it begins more."""

from collections.abc import Generator
from contextlib import contextmanager


class Traffic:
    """A count of the requests that somebody waits for."""

    def __init__(self) -> None:
        self.interactive = 0

    @contextmanager
    def passing(self) -> Generator[None]:
        """Count one request for the length of the block."""
        self.interactive += 1
        try:
            yield
        finally:
            self.interactive -= 1
