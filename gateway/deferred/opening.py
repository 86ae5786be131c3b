"""Open the deferred work of one process: its runner, and the rounds that keep batches moving."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import datetime

from structlog.typing import FilteringBoundLogger

from gateway.deferred.provider_batches.carrying import Carriage
from gateway.deferred.provider_batches.shipping import SHIP_S, Shipping
from gateway.deferred.runner import LOOK_S, RENEW_S, Runner
from gateway.deferred.traffic import Traffic
from gateway.governing.in_force import InForce
from gateway.operations.metrics import Metrics
from gateway.operations.rounds import Round
from governance.database import Database
from governance.identity import Keyring


async def open_deferred(
    *,
    database: Database,
    in_force: InForce,
    keyring: Keyring,
    traffic: Traffic,
    metrics: Metrics,
    log: FilteringBoundLogger,
    now: Callable[[], datetime],
    ticks: Callable[[], float],
    new_id: Callable[[], str],
    sole: bool,
    stack: AsyncExitStack,
) -> tuple[Round, ...]:
    """Start to run deferred work until `stack` is closed, and return the rounds it needs.

    Args:
        database: where the queue is.
        in_force: what governs.
        keyring: who holds the keys that pay.
        traffic: the requests that go first.
        metrics: told of lines that end.
        log: told of what goes wrong.
        now: an aware clock.
        ticks: a monotonic clock in seconds.
        new_id: makes names that nobody has, or had.
        sole: no other process works on this queue.
        stack: what to close at the end.
    """
    carriage = Carriage(database)
    runner = Runner(
        database=database,
        in_force=in_force,
        keyring=keyring,
        traffic=traffic,
        metrics=metrics,
        log=log,
        now=now,
        ticks=ticks,
        worker=new_id(),
        carriage=carriage,
    )
    shipping = Shipping(
        database=database, in_force=in_force, metrics=metrics, log=log, now=now, new_id=lambda: f"ship_{new_id()}"
    )
    if sole:
        await runner.take_over()
    work = asyncio.create_task(runner.work(), name="deferred lines")

    async def stop() -> None:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        await runner.close()

    stack.push_async_callback(stop)
    return (
        (LOOK_S, "deferred batches", runner.advance),
        (LOOK_S, "deferred answers", carriage.hand_out),
        (SHIP_S, "shipments", shipping.tend),
        (RENEW_S, "deferred leases", runner.renew),
    )
