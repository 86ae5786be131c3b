"""What the tests of streams share."""

from tests.support.providers.fixtures import far, running

__all__ = ["far", "running"]
