"""A disk that is full, as far as this process can tell."""

import resource
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def full_disk(largest: int) -> Generator[None]:
    """Let no file of this process grow beyond a size, as a full disk would not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
