"""Pass one answer on, chunk by chunk, until it ends, its client leaves, or a budget has no room for more of it."""

from collections.abc import Callable

from gateway.policy.reliability import Timeouts
from gateway.providers.leaving import Leave
from gateway.providers.upstream import Chunk, Upstream, Wanted
from gateway.steps.brake import Brake, stopped_by
from gateway.steps.metering import Meter
from gateway.steps.patience import Patience
from gateway.wire.reply import Reply
from governance.prices import Price, cost_of


async def relay(
    upstream: Upstream,
    wanted: Wanted,
    request_id: str,
    meter: Meter,
    brake: Brake,
    reply: Reply,
    *,
    timeouts: Timeouts,
    limit_s: float,
    ticks: Callable[[], float],
) -> None:
    """Pass chunks on as they come; when the client leaves, do as the provider's rule has it.

    A client that reads more slowly than the provider writes slows the provider down: nothing is read while something
    waits to be sent.

    Raises:
        UpstreamError: the call failed, or ended before the answer.
    """
    with Patience(timeouts, limit_s, upstream.name) as patience:
        leaving = Leaving(upstream.leave, patience, meter, brake.price)
        with reply.departure.meanwhile(leaving.begin):
            async with upstream.stream(wanted, request_id) as chunks:
                async for chunk in chunks:
                    meter.see(chunk, ticks())
                    patience.heard(begun=meter.begun)
                    await _pass_on(chunk, reply)
                    if leaving.enough:
                        return
                    if not meter.complete and (budget := await brake.stops(meter)) is not None:
                        await _pass_on(meter.cut(stopped_by(budget)), reply)
                        break
                    patience.go_on()
        meter.check_complete(upstream.name)
    if patience.ended and not reply.departure.happened:
        raise patience.overdue


class Leaving:
    """What a provider's rule asks for once the client has left.

    Bounds are of what is told by the provider, and where it tells nothing on the way, of what is likely.
    """

    def __init__(self, rule: Leave, patience: Patience, meter: Meter, price: Price) -> None:
        self._rule = rule
        self._patience = patience
        self._meter = meter
        self._price = price
        self._most_tokens: int | None = None
        self._most_nanos: int | None = None

    def begin(self) -> None:
        """Stop the call, or read on as far as the rule says from here."""
        rule, used = self._rule, self._meter.used
        if not rule.believes:
            self._meter.disbelieve()
        if not rule.reads_on:
            self._patience.stop()
        if rule.seconds is not None:
            self._patience.shorten(rule.seconds)
        if rule.tokens is not None:
            self._most_tokens = used.output_tokens + rule.tokens
        if rule.cost is not None:
            self._most_nanos = cost_of(used, self._price).nanos + rule.cost.nanos

    @property
    def enough(self) -> bool:
        """Whether nothing more is to be read: the call was stopped, or a bound has been reached."""
        if self._patience.over:
            return True
        if self._most_tokens is None and self._most_nanos is None:
            return False
        used = self._meter.used
        tokens = self._most_tokens is not None and used.output_tokens >= self._most_tokens
        return tokens or (self._most_nanos is not None and cost_of(used, self._price).nanos >= self._most_nanos)


async def _pass_on(chunk: Chunk, reply: Reply) -> None:
    if (chunk.payload or chunk.value) and not reply.departure.happened:
        await reply.piece(chunk)
