"""What can go wrong in the cache.

CacheError
├── BadDirective            the caller's cache controls make no sense
├── BadLine                 a line of a file to evaluate by is not what it should be
├── EmbeddingUnavailable    no vector can be had, now or at all
│   ├── EmbeddingBusy       too many texts wait, or the vectors came too late
│   └── EmbeddingMissing    what computes it is not installed
├── IndexUnavailable        the home of vectors cannot be used, now or at all
├── NoAnswerInTime          another request makes the answer, and takes longer than this one may
├── SharedAway              a Redis does not answer, or not in time
└── TooDeep                 the request body is nested too deeply to be compared
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


class BadLine(CacheError):
    """A line of a recorded stream, or of labelled pairs, that is not what it should be.

    Attributes:
        file: The file.
        number: The line, from 1.
    """

    def __init__(self, file: str, number: int, fault: str) -> None:
        super().__init__(f"{file}, line {number}: {fault}")
        self.file = file
        self.number = number


class EmbeddingUnavailable(CacheError):
    """No vector can be had. A request goes on without: nothing can be said of what is like it."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"no embedding: {reason}")


class EmbeddingBusy(EmbeddingUnavailable):
    """Too many texts wait, or their vectors came too late to be of use."""


class EmbeddingMissing(EmbeddingUnavailable):
    """What computes an embedding is not installed.

    Attributes:
        model: The model that was wanted.
        install: What to give to `pip install`.
    """

    def __init__(self, model: str, install: str) -> None:
        super().__init__(f"{model} needs a package that is not installed: pip install '{install}'")
        self.model = model
        self.install = install


class IndexUnavailable(CacheError):
    """A home of vectors that is not there, does not answer, or is in use by another."""


class SharedAway(CacheError):
    """A Redis that does not answer in time, or cannot do what it is asked."""


class TooDeep(CacheError):
    """A request body nested more deeply than any real request."""

    def __init__(self) -> None:
        super().__init__("the body is nested too deep to be compared")


class NoAnswerInTime(CacheError):
    """The request that makes the same answer takes longer than this one may wait."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The same request is being answered, and its answer was not complete within {seconds:g} s.")
