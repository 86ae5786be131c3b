"""Wait for one answer, but not for ever: for its beginning, between two pieces of it, and for the whole of it.

A timer looks only as often as a wait may last, so that a piece costs no more than a look at the clock.
"""

import asyncio
from types import TracebackType
from typing import Self

import anyio

from gateway.errors import UpstreamTimeout
from gateway.policy.reliability import Timeouts


class Patience:
    """Cancels what runs inside its block when a wait is over.

    Args:
        timeouts: how long the provider is waited for.
        limit_s: seconds from now that all of it may take.
        provider: its name, for the error.

    Attributes:
        over: it is time to leave the block, which cannot be cancelled while it always finds something to read.
    """

    def __init__(self, timeouts: Timeouts, limit_s: float, provider: str) -> None:
        self._timeouts = timeouts
        self._limit_s = limit_s
        self._provider = provider
        self._begun = False
        self._held = False
        self._silent = ""
        self.over = False

    def __enter__(self) -> Self:
        """Begin to wait."""
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time()
        self._scope = anyio.CancelScope(deadline=self._since + self._limit_s)
        self._timer = self._loop.call_later(self._timeouts.first_token_s, self._look)
        self._scope.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        """Stop waiting; says whether it was this that ended the block."""
        self._timer.cancel()
        return self._scope.__exit__(kind, raised, traceback)

    def heard(self, *, begun: bool) -> None:
        """Note that the provider has sent something, and count no silence until `go_on`: our client is to have it.

        Only what begins the answer ends the wait for its beginning.
        """
        self._held = True
        if begun and not self._begun:
            self._begun = True
            self._timer.cancel()
            self._timer = self._loop.call_later(self._timeouts.idle_s, self._look)

    def go_on(self) -> None:
        """Count the silence of the provider again."""
        self._held = False
        if self._begun:
            self._since = self._loop.time()

    def stop(self) -> None:
        """End the block, once what has been received already is dealt with."""
        self._loop.call_soon(self._stop)

    def shorten(self, seconds: float) -> None:
        """Let the block take no longer than `seconds` from now."""
        self._scope.deadline = min(self._scope.deadline, self._loop.time() + seconds)

    @property
    def ended(self) -> bool:
        """Whether the block was ended before its own end."""
        return self._scope.cancelled_caught

    @property
    def overdue(self) -> UpstreamTimeout:
        """Which wait was too long, once one was."""
        return UpstreamTimeout(self._silent or "The answer was not complete in time.", self._provider)

    def _stop(self) -> None:
        self.over = True
        self._scope.cancel()

    def _look(self) -> None:
        wait_s = self._timeouts.idle_s if self._begun else self._timeouts.first_token_s
        now = self._loop.time()
        left_s = wait_s if self._held else self._since + wait_s - now
        if left_s > 0:
            self._timer = self._loop.call_later(left_s, self._look)
            return
        said = "stopped in its answer for" if self._begun else "did not begin its answer within"
        self._silent = f"Provider {self._provider!r} {said} {wait_s:g} s."
        self._scope.cancel()
