"""The engine beside an event loop: one thread owns the model, callers await events.

`submit` posts requests to the inference thread and returns their events as an async iterator. Whoever stops reading
(closes the iterator, leaves its `async with`, is cancelled) aborts what he asked for; the next step frees it.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
from functools import partial
from typing import TYPE_CHECKING, Self

from local_engine.errors import EngineStopped, InvalidRequest, Overloaded
from local_engine.request import Ended, Event, Request, Usage
from local_engine.types import FinishReason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import TracebackType

    from local_engine.engine import Engine
    from local_engine.measure.stats import Stats

log = logging.getLogger(__name__)

_WINDOW_POLL_S = 0.002
_JOIN_S = 1.5
_LOST_AFTER = 4.0
_MAX_RETRY_S = 60


class EventStream:
    """The events of the requests of one `submit`, ending after the last one's `Ended`."""

    def __init__(self, requests: Sequence[Request], abort: Callable[[str], None]) -> None:
        self._pending = {request.request_id: request for request in requests}
        self._abort = abort
        self._events: asyncio.Queue[Event] = asyncio.Queue()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if not self._pending and self._events.empty():
            raise StopAsyncIteration
        return await self._events.get()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def push(self, event: Event) -> None:
        """Add an event; called on the event loop."""
        if isinstance(event, Ended):
            self._pending.pop(event.request_id, None)
        self._events.put_nowait(event)

    def close(self) -> None:
        """Abort what has not ended. Doing so twice is harmless."""
        for request_id in self._pending:
            self._abort(request_id)


class Service:
    """Runs an engine in a thread of its own.

    Args:
        engine: The engine; only the thread touches it once `start` was called, `validate` and constants apart.
        max_open: Sequences in flight, running and waiting, before requests are refused.
        stall_after_s: Seconds without a finished step, while there is work, after which `is_healthy` is false.
        clock: Seconds, monotonic.
        on_start: Runs first in the thread, to set up what belongs to a thread.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        max_open: int,
        stall_after_s: float,
        clock: Callable[[], float],
        on_start: Callable[[], None] = lambda: None,
    ) -> None:
        self._engine = engine
        self._max_open = max_open
        self._stall_after_s = stall_after_s
        self._clock = clock
        self._on_start = on_start
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="inference", daemon=True)
        self._wake = threading.Condition()
        self._inbox: list[Callable[[], None]] = []
        self._is_stopping = False
        # What follows belongs to the event loop.
        self._streams: dict[str, EventStream] = {}
        self._open: dict[str, Request] = {}
        self._usages: dict[str, Usage] = {}
        self._drained = asyncio.Event()
        self._is_closed = self._has_died = False
        self._last_end_s = self._progress_s = clock()
        self._pace_s = 1.0
        self.stats: Stats = engine.stats()

    def start(self) -> None:
        """Start the inference thread; events are delivered on the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def submit(self, requests: Sequence[Request]) -> EventStream:
        """Begin requests and return their events; all are accepted or none.

        Raises:
            InvalidRequest: One of them can never be served, or its id is in flight.
            Overloaded: They do not fit the queue now.
            EngineStopped: The service stops, has stopped, or its thread died.
        """
        if self._is_closed or not self._thread.is_alive():
            raise EngineStopped
        for request in requests:
            self._engine.validate(request)
            if request.request_id in self._open:
                raise InvalidRequest(f"request {request.request_id} is in flight already")
        self._require_room(sum(request.choices for request in requests))
        if not self._open:
            self._progress_s = self._last_end_s = self._clock()
            self._drained.clear()
        stream = EventStream(requests, self._post_abort)
        for request in requests:
            self._open[request.request_id] = request
            self._usages[request.request_id] = Usage(len(request.prompt), 0, 0)
            self._streams[request.request_id] = stream
        self._post(*(partial(self._engine.add, request) for request in requests))
        return stream

    @property
    def is_healthy(self) -> bool:
        """Whether the thread lives and, while there is work, finishes steps."""
        if self._is_closed or not self._thread.is_alive():
            return False
        return not self._open or self._clock() - self._progress_s < self._stall_after_s

    @property
    def is_lost(self) -> bool:
        """Whether it will never be healthy again: the thread died, or a step takes several times what it may."""
        if self._has_died:
            return True
        return bool(self._open) and self._clock() - self._progress_s > _LOST_AFTER * self._stall_after_s

    async def stop(self, grace_s: float) -> None:
        """Take no more requests, let those in flight finish for `grace_s` seconds, abort the rest, end the thread.

        Every stream has got its terminal events when this returns. Doing so twice is harmless.
        """
        self._is_closed = True
        if is_lost := self.is_lost:
            self._end_all(FinishReason.ERROR, "the engine makes no progress")
        if self._open and self._thread.is_alive():
            try:
                await asyncio.wait_for(self._drained.wait(), grace_s)
            except TimeoutError:
                self._post(self._engine.abort_all)
        with self._wake:
            self._is_stopping = True
            self._wake.notify()
        if self._thread.is_alive() and not is_lost:
            await asyncio.to_thread(self._thread.join, _JOIN_S)
        await asyncio.sleep(0)  # let the thread's last deliveries run
        self._end_all(FinishReason.ABORT, "the engine has stopped")

    def _require_room(self, sequences: int) -> None:
        if sequences > self._max_open:
            raise InvalidRequest(f"{sequences} choices were asked for, at most {self._max_open} can be in flight", "n")
        in_flight = sum(request.choices for request in self._open.values())
        if in_flight + sequences > self._max_open:
            raise Overloaded(min(_MAX_RETRY_S, max(1, math.ceil(self._pace_s))))

    def _post(self, *commands: Callable[[], None]) -> None:
        with self._wake:
            self._inbox += commands
            self._wake.notify()

    def _post_abort(self, request_id: str) -> None:
        self._post(partial(self._engine.abort, request_id))

    def _run(self) -> None:
        try:
            self._on_start()
            while self._take_turn():
                pass
        except BaseException:
            log.exception("the inference thread died")
            self._on_loop(self._bury)

    def _take_turn(self) -> bool:
        """Apply what was posted and run a step; False when it is time to end."""
        with self._wake:
            while not (self._inbox or self._is_stopping or self._engine.has_work):
                self._wake.wait()
            commands, self._inbox = self._inbox, []
        for command in commands:
            command()
        if not self._engine.has_work:
            return not self._is_stopping
        events = self._engine.step()
        stats = self._engine.stats()
        self._on_loop(partial(self._deliver, events, stats))
        if not stats.running and stats.waiting:  # an admission window is open
            with self._wake:
                self._wake.wait(_WINDOW_POLL_S)
        return True

    def _on_loop(self, call: Callable[[], None]) -> None:
        assert self._loop is not None  # noqa: S101  set before the thread starts
        try:
            self._loop.call_soon_threadsafe(call)
        except RuntimeError:  # the loop was closed under us; there is nobody left to tell
            log.warning("events were lost because the event loop is closed")

    def _deliver(self, events: Iterable[Event], stats: Stats) -> None:
        self.stats = stats
        self._progress_s = self._clock()
        for event in events:
            self._hand_over(event)

    def _hand_over(self, event: Event) -> None:
        stream = self._streams.get(event.request_id)
        if event.request_id in self._usages:
            self._usages[event.request_id] = event.usage
        if isinstance(event, Ended):
            for of_this in (self._streams, self._open, self._usages):
                of_this.pop(event.request_id, None)
            now_s = self._clock()
            log.info("request ended", extra=_facts(event))
            self._pace_s = 0.8 * self._pace_s + 0.2 * (now_s - self._last_end_s)
            self._last_end_s = now_s
            if not self._open:
                self._drained.set()
        if stream is not None:
            stream.push(event)

    def _bury(self) -> None:
        self._has_died = True
        self._end_all(FinishReason.ERROR, "the engine has died")

    def _end_all(self, reason: FinishReason, error: str) -> None:
        """End what the thread can no longer end."""
        self._is_closed = True
        for request in list(self._open.values()):
            self._hand_over(Ended(request.request_id, reason, self._usages[request.request_id], error))


def _facts(ended: Ended) -> dict[str, object]:
    usage = ended.usage
    return {
        "request": ended.request_id,
        "finish": ended.finish.value,
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "cached_tokens": usage.cached,
    }
