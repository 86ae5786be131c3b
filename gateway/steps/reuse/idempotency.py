"""A request's turn under its idempotency key: what was answered before is given again, and paid for once.

Spec: the IETF's draft "The Idempotency-Key HTTP Header Field". A request without the header pays nothing for this.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final

import anyio
import msgspec
from structlog.typing import FilteringBoundLogger

from cache.canonical import fingerprint
from gateway.providers.upstream import Chunk
from gateway.steps.admission import Asked
from gateway.steps.purchasing import LEASE_SLACK_S
from gateway.wire.departure import Departure
from gateway.wire.headers import Facts
from gateway.wire.reply import Reply
from governance.errors import IdempotencyKeyBusy, StoreUnavailable
from governance.idempotency.answers import Answer, Claim, IdempotentAnswers, Running

_FIRST_LOOK_S: Final = 0.05
_LONGEST_LOOK_S: Final = 1.0
_LONGEST_RETRY_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Turn:
    """One request's turn; without a key there is nothing to find and nothing to keep.

    Attributes:
        answer: what was answered under the key before; None when this request is to make the answer.
    """

    answer: Answer | None = None
    _keep: Callable[[Answer], Awaitable[None]] | None = field(default=None, repr=False)

    async def keep(self, body: dict[str, Any], facts: Facts) -> None:
        """Keep an answer for whoever sends the request again."""
        if self._keep is not None:
            await self._keep(Answer(msgspec.json.encode(body), facts.opening.model))

    def keeping(self, reply: Reply) -> Reply:
        """Return the reply that keeps what it finishes with."""
        return reply if self._keep is None else _KeepingReply(reply, self)


@dataclass(frozen=True, slots=True)
class OnceOnly:
    """Gives every request its turn. `ticks` is a monotonic clock in seconds."""

    answers: IdempotentAnswers
    ticks: Callable[[], float]
    log: FilteringBoundLogger

    async def turn(self, asked: Asked[object], stack: AsyncExitStack, left: Callable[[], bool]) -> Turn:
        """Wait for the request's turn, which ends with the stack.

        Args:
            asked: the request; its own limit is the longest it waits.
            stack: what ends with the request. A turn that has kept no answer then frees its key.
            left: says whether the client has gone, so that waiting is in vain.

        Raises:
            IdempotencyKeyBusy: the request that has the turn took too long.
            IdempotencyKeyReused: the key stands for another request.
            StoreUnavailable: the database does not answer, so that nobody knows whether it was answered before.
            TooDeep: the body is nested too deep to be told from others.
        """
        if asked.controls.idempotency_key is None:
            return Turn()
        claim = _claim(asked, asked.controls.idempotency_key)
        answer = await self._claimed(asked, claim, left)
        return Turn(answer) if answer is not None else await stack.enter_async_context(self._held(asked, claim))

    async def _claimed(self, asked: Asked[object], claim: Claim, left: Callable[[], bool]) -> Answer | None:
        pause = _FIRST_LOOK_S
        while True:
            now, remaining = self._now(asked), self._remaining(asked)
            found = await self.answers.claim(claim, now, now + timedelta(seconds=remaining + LEASE_SLACK_S))
            if not isinstance(found, Running):
                return found
            if remaining <= 0 or left():
                raise IdempotencyKeyBusy(min((found.until - now).total_seconds(), _LONGEST_RETRY_S))
            await anyio.sleep(min(pause, remaining))
            pause = min(2 * pause, _LONGEST_LOOK_S)

    @asynccontextmanager
    async def _held(self, asked: Asked[object], claim: Claim) -> AsyncGenerator[Turn]:
        given: Answer | None = None
        done = False

        async def keep(answer: Answer) -> None:
            nonlocal given, done
            given = answer
            done = await self._tried(self.answers.keep(claim, answer, self._now(asked)), claim)

        try:
            yield Turn(None, keep)
        finally:
            if not done:
                ending = self.answers.release(claim) if given is None else keep(given)
                with anyio.CancelScope(shield=True):
                    await self._tried(ending, claim)

    async def _tried(self, act: Awaitable[None], claim: Claim) -> bool:
        """Do what must not fail the request; a key whose end could not be written is free when its lease ends."""
        try:
            await act
        except StoreUnavailable as error:
            self.log.warning("idempotency", request_id=claim.request_id, key_id=claim.key_id, reason=error.reason)
            return False
        return True

    def _remaining(self, asked: Asked[object]) -> float:
        return max(0.0, asked.limit_s - (self.ticks() - asked.tick))

    def _now(self, asked: Asked[object]) -> datetime:
        return asked.at + timedelta(seconds=self.ticks() - asked.tick)


class _KeepingReply:
    """A reply whose end is kept before it is sent: who has seen it can ask again and is given the same."""

    def __init__(self, reply: Reply, turn: Turn) -> None:
        self._reply = reply
        self._turn = turn

    @property
    def departure(self) -> Departure:
        return self._reply.departure

    async def begin(self, facts: Facts) -> None:
        await self._reply.begin(facts)

    @property
    def spoken(self) -> bool:
        return self._reply.spoken

    async def piece(self, chunk: Chunk) -> None:
        await self._reply.piece(chunk)

    async def told(self, completion: dict[str, Any]) -> None:
        await self._reply.told(completion)

    async def finish(self, completion: dict[str, Any], facts: Facts) -> None:
        await self._turn.keep(completion, facts)
        await self._reply.finish(completion, facts)


def _claim(asked: Asked[object], key: str) -> Claim:
    asks = fingerprint(asked.body, partition="", model_class=asked.model, endpoint=asked.endpoint)
    return Claim(asked.caller.key_id, sha256(key.encode()).digest(), asks, asked.request_id)
