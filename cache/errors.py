"""What can go wrong in the cache.

CacheError
├── BadDirective      the caller's cache controls make no sense
├── IndexUnavailable  the home of vectors cannot be used, now or at all
└── TooDeep           the request body is nested too deeply to be compared
"""


class CacheError(Exception):
    """A fault of the cache or of what it was given."""


class BadDirective(CacheError):
    """A cache control that makes no sense.

    Attributes:
        source: Where it stood: `Cache-Control` or `cache`.
        directive: Its name, or the whole value when it is not even a set of directives.
        expected: What belongs there.
    """

    def __init__(self, source: str, directive: str, expected: str) -> None:
        super().__init__(f"{source}: {directive} must be {expected}")
        self.source = source
        self.directive = directive
        self.expected = expected


class IndexUnavailable(CacheError):
    """A home of vectors that is not there, does not answer, or is in use by another."""


class TooDeep(CacheError):
    """A request body nested more deeply than any real request."""

    def __init__(self) -> None:
        super().__init__("the body is nested too deep to be compared")
