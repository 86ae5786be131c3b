"""What a dialect is to the fake: the same answer as events or as one body, and how errors are written."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from tests.support.providers.answer import Answer
from tests.support.providers.script import Script

Body = dict[str, Any]


class Told(NamedTuple):
    """One event, and how many pieces of the answer have been made once it is told."""

    name: str
    data: dict[str, Any]
    made: int


class Dialect(Protocol):
    """One of the modules of this package that tell an answer."""

    @property
    def MEDIA_TYPE(self) -> str:  # noqa: N802  a module's constant
        """The content type of its streams."""
        ...

    @property
    def DONE(self) -> bytes | None:  # noqa: N802  a module's constant
        """What the event that ends a stream holds, where there is one."""
        ...

    def events(self, script: Script, body: Body) -> Iterator[Told]:
        """Yield the events of the answer."""
        ...

    def whole(self, answer: Answer, script: Script, body: Body) -> Body:
        """Return the answer in one piece."""
        ...

    def failure(self, status: int, code: str, message: str) -> Body:
        """Return the body of a refusal."""
        ...

    def failing(self, code: str, message: str) -> tuple[str, Body]:
        """Return the event that tells of an error in the middle of a stream."""
        ...

    def frame(self, name: str, data: Body, line_end: bytes) -> bytes:
        """Return one event as bytes."""
        ...
