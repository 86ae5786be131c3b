"""Pass one answer on, chunk by chunk, until it ends, its client leaves, or a budget has no room for more of it."""

from collections.abc import Callable
from functools import partial
from typing import Final

import anyio

from gateway.errors import UpstreamTimeout
from gateway.providers.upstream import Leave, Upstream, Wanted
from gateway.steps.brake import Brake, stopped_by
from gateway.steps.metering import Meter
from gateway.wire.reply import Reply

DRAIN_S: Final = 30.0
"""How long a provider that is read to its end may take for it after the client has left."""


async def relay(
    upstream: Upstream,
    wanted: Wanted,
    request_id: str,
    meter: Meter,
    brake: Brake,
    reply: Reply,
    *,
    limit_s: float,
    ticks: Callable[[], float],
) -> None:
    """Pass chunks on as they come; when the client leaves, stop or read on as the provider's kind has it.

    Raises:
        UpstreamError: the call failed, or ended before the answer.
    """
    with anyio.CancelScope(deadline=anyio.current_time() + limit_s) as scope:
        reply.departure.then(partial(_leave, scope, upstream.leave))
        async with upstream.stream(wanted, request_id) as chunks:
            async for chunk in chunks:
                meter.see(chunk, ticks())
                if not reply.departure.happened:
                    await reply.piece(chunk)
                if not meter.complete and (budget := await brake.stops(meter)) is not None:
                    last = meter.cut(stopped_by(budget))
                    if not reply.departure.happened:
                        await reply.piece(last)
                    break
        meter.check_complete(upstream.name)
    if scope.cancelled_caught and not reply.departure.happened:
        raise UpstreamTimeout(f"The answer was not complete within {limit_s:g} s.", upstream.name)


def _leave(scope: anyio.CancelScope, rule: Leave) -> None:
    if rule == "cancel":
        scope.cancel()
    else:
        scope.deadline = min(scope.deadline, anyio.current_time() + DRAIN_S)
