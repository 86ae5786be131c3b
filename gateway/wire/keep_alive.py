"""Say something to a client that has heard nothing for a while, so that neither it nor a proxy gives it up."""

import asyncio
from collections.abc import Awaitable, Callable


class KeepAlive:
    """Calls `murmur` each time that `quiet_s` seconds have passed without a word. Its timer runs until `end`."""

    def __init__(self, quiet_s: float, murmur: Callable[[], Awaitable[None]]) -> None:
        self._quiet_s = quiet_s
        self._murmur = murmur
        self._timer: asyncio.TimerHandle | None = None
        self._murmuring: asyncio.Future[None] | None = None

    def start(self) -> None:
        """Begin to count the silence, if that has not begun."""
        if self._timer is None:
            self._loop = asyncio.get_running_loop()
            self._since = self._loop.time()
            self._timer = self._loop.call_later(self._quiet_s, self._look)

    def said(self) -> None:
        """Note that something has been said."""
        if self._timer is not None:
            self._since = self._loop.time()

    def end(self) -> None:
        """Stop counting, and stop a murmur on its way."""
        if self._timer is not None:
            self._timer.cancel()
        if self._murmuring is not None:
            self._murmuring.cancel()

    def _look(self) -> None:
        now = self._loop.time()
        if now >= self._since + self._quiet_s:
            self._since = now
            self._murmuring = asyncio.ensure_future(self._murmur())
        self._timer = self._loop.call_later(self._since + self._quiet_s - now, self._look)
