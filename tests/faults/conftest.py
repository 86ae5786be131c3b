"""What the tests of published faults share."""

from tests.support.providers.fixtures import far, running

__all__ = ["far", "running"]
