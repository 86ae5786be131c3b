"""One call as it was made, as another policy would have it made, or as it would have been if it had been made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from gateway.policy.replay.regime import CACHE
from governance.ledger.events import EventKind
from governance.prices import Price, Usage, cost_of

if TYPE_CHECKING:
    from gateway.policy.replay.likely import LikelyCall
    from gateway.policy.replay.limits import Amounts
    from gateway.policy.replay.rulings import Answer
    from governance.ledger.reading.traffic import Past

_CANCELLED: Final = EventKind.CANCELLED.value
_EXPIRED: Final = EventKind.EXPIRED.value


class Call(NamedTuple):
    """A call as it would run: what it holds and costs in nano-dollars, its tokens, and how long it takes.

    `requests` is 0 for one that was cancelled, which counts as if it had never been. `estimated` tells that its cost is
    no fact of the ledger, `unpriced` that nobody knows it.
    """

    held: int
    cost: int
    tokens: int
    duration_ms: float
    requests: int = 1
    estimated: bool = False
    unpriced: bool = False

    @property
    def most(self) -> Amounts:
        """What it draws when it begins. Of tokens the ledger knows only those that were used."""
        return self.held, 1, self.tokens, 1, 1

    @property
    def rest(self) -> Amounts:
        """What comes to that when it ends."""
        return self.cost - self.held, self.requests - 1, 0, -1, self.requests - 1


def as_recorded(row: Past) -> Call:
    """Return a call as it was made."""
    return Call(row.held_nanos, row.cost_nanos, row.tokens, row.duration_ms or 0.0, int(row.kind != _CANCELLED))


def anew(row: Past, answer: Answer, ceiling: int | None, past: Call) -> Call:
    """Return a call that was made as the new policy would make it."""
    usage = _usage(row)
    capped = _capped(usage, ceiling)
    if row.provider == CACHE:
        price = answer.price
        cost = past.cost if price is None else cost_of(usage, price).nanos
        return past._replace(held=cost, cost=cost, estimated=True, unpriced=price is None)
    if not answer.known:
        return past._replace(estimated=True, unpriced=True)
    held = _grown(past.held, answer.hold)
    if row.kind == _EXPIRED:
        return past._replace(held=held, cost=held)
    if answer.price is None and capped == usage:
        return past
    if answer.price is None:
        # The same price per token: the part of the cost that the shorter answer leaves.
        cost = past.cost * capped.total // (usage.total or 1)
        return past._replace(cost=cost, tokens=capped.total, estimated=True)
    estimated = answer.model != row.model or capped != usage
    cost = cost_of(capped, answer.price).nanos
    return Call(held, cost, capped.total, past.duration_ms, past.requests, estimated)


def imagined(likely: LikelyCall | None, price: Price | None, answer: Answer, ceiling: int | None) -> Call:
    """Return a call that was refused as it would have been made."""
    if likely is None or price is None:
        return Call(0, 0, 0, 0, estimated=True, unpriced=True)
    usage = _capped(likely.usage, ceiling)
    held = _grown(likely.held, answer.hold)
    return Call(held, cost_of(usage, price).nanos, usage.total, likely.duration_ms, estimated=True)


def _usage(row: Past) -> Usage:
    return Usage(*[count or 0 for count in row.counts])


def _capped(usage: Usage, ceiling: int | None) -> Usage:
    if ceiling is None or usage.output_tokens <= ceiling:
        return usage
    reasoning = min(usage.reasoning, ceiling)
    spoken = min(usage.audio_output, ceiling - reasoning)
    return replace(usage, output=ceiling - reasoning - spoken, reasoning=reasoning, audio_output=spoken)


def _grown(held: int, ratio: tuple[int, int]) -> int:
    return -(-held * ratio[0] // ratio[1])
