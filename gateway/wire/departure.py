"""Learn that a client has left while its answer is still being made."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Self

Receive = Callable[[], Any]


class Departure:
    """Watches one connection from the end of the request's body on.

    Use as a context manager around the answer; `then` names what to do when the client leaves, and replaces what was
    named before.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._act: Callable[[], None] = _nothing
        self.happened = False

    def then(self, act: Callable[[], None]) -> None:
        """Do `act` once when the client leaves, at once if it has left already."""
        self._act = act
        if self.happened:
            act()

    @contextmanager
    def meanwhile(self, act: Callable[[], None]) -> Generator[None]:
        """Do `act` when the client leaves inside this block, or has left already."""
        self.then(act)
        try:
            yield
        finally:
            self._act = _nothing

    def __enter__(self) -> Self:
        """Begin to watch."""
        self._watcher = asyncio.get_running_loop().create_task(self._watch())
        return self

    def __exit__(self, *_: object) -> None:
        """Stop watching."""
        self._watcher.cancel()

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass  # a body that goes on after its end is the server's business
        self.leave()

    def leave(self) -> None:
        """Let it happen now."""
        self.happened = True
        self._act()


def _nothing() -> None:
    pass
