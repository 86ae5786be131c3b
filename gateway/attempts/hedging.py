"""A second call beside one that is slow to begin: whoever says something first answers, and the other is stopped.

Both are held for while they run, and what the stopped one cost is booked like any attempt.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace

from gateway.attempts.course import Course, Ready
from gateway.errors import UpstreamError
from gateway.providers.upstream import Chunk
from gateway.steps.metering import Meter
from gateway.wire.departure import Departure
from gateway.wire.headers import Facts
from gateway.wire.reply import Reply
from governance.purse import Hold

Call = Callable[[Ready, Reply], Awaitable[Meter]]
"""Makes one call and passes its answer on."""


class Lane:
    """The `Reply` of one of two calls: what it says goes out if it is the first to say anything."""

    def __init__(self, race: "Race", ready: Ready) -> None:
        self.ready = ready
        self.departure = Departure(_never)
        self._race = race
        self._facts: Facts | None = None

    @property
    def spoken(self) -> bool:
        """Whether anything of its answer has gone out."""
        return self._race.winner is self and self._race.reply.spoken

    async def begin(self, facts: Facts) -> None:
        """Keep what is known until it is the one that answers; the client may hear signs of life from now on."""
        self._facts = facts
        await self._race.reply.begin(facts)

    async def piece(self, chunk: Chunk) -> None:
        """Answer, if nobody does yet."""
        if self._race.winner is None:
            await self._race.won(self, self._facts)
        if self._race.winner is self:  # else it is being stopped
            await self._race.reply.piece(chunk)

    async def told(self, completion: dict[str, object]) -> None:
        """Never used: a provider's answer comes in pieces."""

    async def finish(self, completion: dict[str, object], facts: Facts) -> None:
        """Never used: an answer is ended where it was asked for."""


class Race:
    """Two calls for one answer."""

    def __init__(self, call: Call, course: Course, hold: Hold, reply: Reply) -> None:
        self.reply = reply
        self.winner: Lane | None = None
        self._call = call
        self._course = course
        self._hold = hold
        self._lanes: dict[asyncio.Task[Meter], Lane] = {}
        self._won = asyncio.Event()

    async def run(self, after_s: float) -> Meter:
        """Return the meter of the call that answers; the second is made when the first is silent for `after_s`.

        Raises:
            UpstreamError: neither does.
        """
        try:
            self._start(self._course.ready)
            self.reply.departure.then(self._leave)
            if await self._silent(after_s) and (second := await self._course.beside()) is not None:
                if self.winner is None and not self.reply.departure.happened:
                    self._start(second)
                else:  # while the money for it was asked for, the first has spoken or its client has left
                    await self._course.stay_with(self._course.ready)
            return await self._answered()
        finally:
            await self._stop(self._lanes)

    async def won(self, lane: Lane, facts: Facts | None) -> None:
        """Let one call answer: stop the other, hold for this alone, and say who it is."""
        self.winner = lane
        self._won.set()
        attempts = len(self._lanes)
        if attempts > 1:
            await self._stop([task for task, other in self._lanes.items() if other is not lane])
            await self._course.stay_with(lane.ready)
        if facts is not None:
            opening, tightest = self._hold.opening, self._hold.tightest
            await self.reply.begin(replace(facts, opening=opening, tightest=tightest, attempts=attempts))

    def _start(self, ready: Ready) -> None:
        lane = Lane(self, ready)
        lane.departure.happened = self.reply.departure.happened
        self._lanes[asyncio.ensure_future(self._call(ready, lane))] = lane

    async def _silent(self, after_s: float) -> bool:
        """Wait for the first call to begin or to end, but not longer; say whether it has done neither."""
        begun = asyncio.ensure_future(self._won.wait())
        try:
            await asyncio.wait([begun, *self._lanes], timeout=after_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            begun.cancel()
        ended = any(task.done() for task in self._lanes)
        return self.winner is None and not ended and not self.reply.departure.happened

    async def _answered(self) -> Meter:
        left, failure = set(self._lanes), None
        while left:
            done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                mine = self.winner in {None, self._lanes[task]}
                if task.cancelled() or not mine:
                    continue
                error = task.exception()
                if error is None:
                    return task.result()
                if self.winner is not None or not isinstance(error, UpstreamError):
                    raise error
                failure = error
        assert failure is not None  # noqa: S101  each call ends with an answer or a failure
        raise failure

    def _leave(self) -> None:
        for lane in self._lanes.values():
            lane.departure.leave()

    @staticmethod
    async def _stop(tasks: Collection[asyncio.Task[Meter]]) -> None:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


async def _never() -> None:
    """Tell nothing: a lane's departure is that of the request."""
