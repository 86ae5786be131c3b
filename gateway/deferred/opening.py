"""Open the deferred work of one process: its runner, and the rounds that keep batches moving."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

from structlog.typing import FilteringBoundLogger

from gateway.deferred.provider_batches.carrying import Carriage
from gateway.deferred.provider_batches.shipping import SHIP_S, Shipping
from gateway.deferred.runner import LOOK_S, RENEW_S, Runner
from gateway.endpoints.edge import Edge
from gateway.operations.rounds import Round
from governance.database import Database


async def open_deferred(
    edge: Edge,
    database: Database,
    log: FilteringBoundLogger,
    new_id: Callable[[], str],
    *,
    sole: bool,
    stack: AsyncExitStack,
) -> tuple[Round, ...]:
    """Start to run deferred work until `stack` is closed, and return the rounds it needs.

    Args:
        edge: where the requests come in that go first.
        database: where the queue is.
        log: told of what goes wrong.
        new_id: makes names that nobody has, or had.
        sole: no other process works on this queue.
        stack: what to close at the end.
    """
    carriage = Carriage(database)
    runner = Runner(
        database=database,
        in_force=edge.in_force,
        keyring=edge.keyring,
        traffic=edge.traffic,
        metrics=edge.metrics,
        log=log,
        now=edge.now,
        ticks=edge.ticks,
        worker=new_id(),
        carriage=carriage,
    )
    shipping = Shipping(
        database=database,
        in_force=edge.in_force,
        metrics=edge.metrics,
        log=log,
        now=edge.now,
        new_id=lambda: f"ship_{new_id()}",
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
