"""The runner: takes lines that are due from the queue and runs them, for as long as its block lasts.

Every process of a gateway has one. It begins a line only while few enough interactive requests are in flight here, and
no more lines run at the same time, over all processes, than the policy says.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, TypeVar

from structlog.typing import FilteringBoundLogger

from gateway.deferred import outcomes
from gateway.deferred.lines import ENDPOINTS, Asking
from gateway.deferred.patience import patience
from gateway.deferred.provider_batches.carrying import Carriage, LineCarrier
from gateway.deferred.timetable import Timetable
from gateway.deferred.traffic import Traffic
from gateway.deferred.validation import validate
from gateway.deferred.wishes import parse_wishes
from gateway.errors import UpstreamError
from gateway.governing.governed import Governed
from gateway.governing.in_force import InForce
from gateway.operations.metrics import Metrics
from gateway.providers.upstream import StillOut
from gateway.wire.errors import UNEXPECTED, shape_of
from governance.database import Database
from governance.deferred import files, parcels, progress, queue
from governance.deferred.records import Line, LineState
from governance.errors import StoreUnavailable, Unauthenticated
from governance.identity import Keyring
from governance.ledger.recovery import expire_orphans

LOOK_S: Final = 1.0
"""How often the queue is looked at while nothing happens here."""

RENEW_S: Final = 5.0
"""How often the leases of lines that run are renewed; well within `queue.LEASE`."""

MOST_CARRIED: Final = 5_000
"""How many lines may be out at providers' batch APIs at the same time, for each process: each waits in memory."""

GRACE_S: Final = 5.0
"""How long lines in flight may take at the end; then they are cut off, settled as they stand, and put back."""

STORE_AGAIN_S: Final = 1.0

StoredT = TypeVar("StoredT")


@dataclass(slots=True, kw_only=True, eq=False)
class Runner:
    """Runs deferred work.

    Attributes:
        database: where the queue is.
        in_force: what governs.
        keyring: who holds the keys that pay.
        traffic: the requests that go first.
        now: an aware clock.
        ticks: a monotonic clock in seconds.
        worker: a name for this process that no other has, or had.
        carriage: where lines wait that are out at a provider's batch API.
    """

    database: Database
    in_force: InForce
    keyring: Keyring
    traffic: Traffic
    metrics: Metrics
    log: FilteringBoundLogger
    now: Callable[[], datetime]
    ticks: Callable[[], float]
    worker: str
    carriage: Carriage
    _carried: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _running: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    _policy: str = ""

    async def take_over(self) -> None:
        """Take the work of dead processes at once; only for the sole process of a database, at its start."""
        await queue.release(self.database)
        await parcels.look_again(self.database)
        await progress.restart_validation(self.database)
        await files.sweep(self.database, self.now())

    async def advance(self) -> None:
        """Move batches on: read the input of new ones, stop those whose time is over, end those that are done."""
        governed = self.in_force.governed
        if self._policy != governed.policy.version:  # what waits for a budget or a window may find another one
            await queue.wait_no_longer(self.database)
            self._policy = governed.policy.version
        batch = await progress.to_validate(self.database, self.now())
        if batch is not None:
            await validate(self.database, batch, self.now)
            self._wake.set()
        for line in await parcels.take_up(self.database, self.worker, self.now(), MOST_CARRIED - len(self._carried)):
            self._begin(line)
        await progress.stop_lines(self.database, self.now(), outcomes.late, outcomes.cancelled)
        await progress.end(self.database, self.now())

    async def renew(self) -> None:
        """Keep what runs here from being taken for abandoned."""
        if self._running or self._carried:
            await queue.renew(self.database, self.worker, self.now())

    async def claim(self) -> None:
        """Begin as many lines as may run now."""
        document, at = self.in_force.governed.policy.document, self.now()
        timetable, most = Timetable.of(document), document.deferred.concurrency
        while self.traffic.interactive <= document.deferred.yield_above and len(self._running) < most:
            if len(self._carried) >= MOST_CARRIED:
                return
            if not await queue.due(self.database, at):
                return
            lines = await queue.claim(self.database, self.worker, at, most, lambda owner: timetable.closed(owner, at))
            for line in lines:
                self._begin(line)
            if not lines:
                return

    async def work(self) -> None:
        """Claim and claim again, until cancelled; a look that fails is told of and tried again."""
        failing = False
        while True:
            self._wake.clear()
            try:
                await self.claim()
                if not self._running:  # the last line of a batch may just have ended
                    await progress.end(self.database, self.now())
            except Exception as error:  # noqa: BLE001  one failed look must not end all the later ones
                if not failing:
                    self.log.warning("round failed", round="deferred lines", reason=f"{type(error).__name__}: {error}")
                failing = True
            else:
                failing = False
            try:
                async with asyncio.timeout(LOOK_S):
                    await self._wake.wait()
            except TimeoutError:
                pass

    async def close(self) -> None:
        """Let what runs finish for a while, and cut off the rest; the queue has it again then."""
        if self._running:
            await asyncio.wait(self._running, timeout=GRACE_S)
        running = list(self._running)
        for task in running:
            task.cancel()
        self.carriage.abandon()
        await asyncio.gather(*running, *self._carried, return_exceptions=True)
        await parcels.leave(self.database, self.worker)

    def _begin(self, line: Line) -> None:
        task = asyncio.create_task(self._run(line), name=line.request_id)
        self._running.add(task)
        task.add_done_callback(self._ended)

    def _aboard(self) -> None:
        """Count the line of this task as carried: it takes no turn from others any more."""
        task = asyncio.current_task()
        if task is not None:
            self._running.discard(task)
            self._carried.add(task)
        self._wake.set()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._carried.discard(task)
        self._wake.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            self.log.error("a line was lost; it will be run again", line=task.get_name(), exc_info=error)

    async def _run(self, line: Line) -> None:
        """Run one line to its result, or put it back for another run."""
        try:
            with self.in_force.governing() as governed:
                body = await self._answer(line, governed)
        except StillOut:
            return  # whoever takes it up goes on with it
        except asyncio.CancelledError:
            await asyncio.shield(queue.put_back(self.database, line, line_until=self.now()))
            raise
        except Exception as error:  # noqa: BLE001  every error is a line's result, or a reason to wait
            await self._stumbled(line, error)
        else:
            await self._keep(line, LineState.DONE, outcomes.answered(line, body))

    async def _answer(self, line: Line, governed: Governed) -> dict[str, Any]:
        caller = self.keyring.holder(line.key_id)
        if caller is None:
            raise Unauthenticated("revoked")
        asking = Asking(
            request_id=line.request_id,
            at=self.now() if line.parcel is None else line.parcel.asked_at,
            tick=self.ticks(),
            caller=caller,
            wishes=parse_wishes(line.asked),
            model=None if line.parcel is None else line.parcel.model,
        )
        document = governed.policy.document
        if line.parcel is not None or (line.owner in Timetable.of(document).carried and not asking.wishes.betas):
            carrier = LineCarrier(
                line=line, at=asking.at, document=document, carriage=self.carriage, aboard=self._aboard
            )
            asking = replace(asking, carrier=carrier)
        return await ENDPOINTS[line.endpoint].answer(asking, governed, line.body)

    async def _stumbled(self, line: Line, error: Exception) -> None:
        if line.parcel is not None and not isinstance(error, UpstreamError):
            # What was out cannot be gone on with: it is booked at what was held, and the line is run anew.
            await self._store(lambda: expire_orphans(self.database, among={line.request_id}))
            await self._store(lambda: queue.put_back(self.database, line, line_until=self.now()))
            return
        if shape_of(error) is UNEXPECTED:
            self.in_force.governed.accounts.crashed(line.request_id, error)
        wait = patience(error, line, self.now())
        if wait is None:
            written = ENDPOINTS[line.endpoint].written
            await self._keep(line, LineState.FAILED, outcomes.refused(line, error, written))
            return
        batch_until = wait.until if wait.whole_batch else None
        await self._store(
            lambda: queue.put_back(
                self.database, line, line_until=wait.until, batch_until=batch_until, failed=wait.failed
            )
        )

    async def _keep(self, line: Line, state: LineState, result: bytes) -> None:
        if await self._store(lambda: queue.finish(self.database, line, state, result)):
            self.metrics.deferred.labels(line.owner.team, line.owner.app, state.value).inc()
        else:
            self.log.warning("a line was run twice; the first result stays", line=line.request_id)

    async def _store(self, act: Callable[[], Awaitable[StoredT]]) -> StoredT:
        """Write to the queue, and try again while the database is away: the answer has been paid for."""
        while True:
            try:
                return await act()
            except StoreUnavailable:
                await asyncio.sleep(STORE_AGAIN_S)
