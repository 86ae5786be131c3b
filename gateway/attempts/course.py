"""The attempts of one request: what is tried next when one has failed, and holding for it before it is made."""

from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal, NamedTuple, Protocol

from cache.prefix.traces import NO_TRACE, Trace
from gateway.attempts.retrying import LONGEST_WAIT_S, PATIENCE_S, Again, again, pause_s
from gateway.catalogue import Catalogue, Wish
from gateway.errors import BadRequest, UpstreamError, UpstreamTimeout
from gateway.providers.upstream import Wanted
from gateway.steps.accounts import Bought
from gateway.steps.admission import Asked, Entitled
from gateway.steps.purchasing import Purchase, Purchasing
from governance.errors import BudgetExhausted, GovernanceError, RateLimited
from governance.limits.steps import Pressure
from governance.prices import Service, Usage
from governance.purse import Hold
from router_models.errors import NoRoute
from router_models.router import Route

_TOO_LATE_S: Final = 0.01
"""With no more time than this left, a request's time is over."""

Pause = Callable[[float], Awaitable[None]]
"""Waits so many seconds; less when nobody waits for the answer any more."""


class Used(Protocol):
    """What a call has used so far."""

    @property
    def heard(self) -> bool:
        """Whether anything of an answer has come."""
        ...

    @property
    def first_at(self) -> float | None:
        """The tick of the first piece, where an answer comes in pieces."""
        ...

    @property
    def service(self) -> Service:
        """How the provider says that it served."""
        ...

    @property
    def reported(self) -> Usage | None:
        """What the provider says."""
        ...

    @property
    def guess(self) -> Usage:
        """What is likely where it says nothing."""
        ...


class Prefixes(Protocol):
    """What the provider may keep of a call's prompt."""

    def ended(self, usage: Usage | None, error: BaseException | None) -> Trace:
        """Take note of how the call ended, and return what the ledger should know of it."""
        ...


class Ready(NamedTuple):
    """A call that can be made: what is bought, how it is said to the provider, and what that may keep of it."""

    purchase: Purchase
    wanted: Wanted
    prefixes: Prefixes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What all attempts of a request have in common.

    Attributes:
        cache: what the cache had to say.
        prepare: prices a route and says the request in the words of its provider.
        pause: waits between two attempts.
    """

    asked: Asked[object]
    entitled: Entitled
    wish: Wish
    pressure: Pressure
    cache: str
    prepare: Callable[[Route], Ready]
    pause: Pause


@dataclass(frozen=True, slots=True, kw_only=True)
class Persistence:
    """How far requests are taken. `ticks` is a monotonic clock in seconds, `chance` gives numbers from 0 up to 1.

    Attributes:
        retries: how often a failed call is made again where it failed.
        attempts: the most calls for one request.
        hedged: for what is asked for and hedged, the seconds that a first call is waited for.
    """

    catalogue: Catalogue
    purchasing: Purchasing
    retries: int
    attempts: int
    hedged: Mapping[str, float]
    ticks: Callable[[], float]
    chance: Callable[[], float]


class Course:
    """The attempts of one request.

    Attributes:
        ready: the call to be made now; its worst case is held.
        made: what the calls made so far came to, failed ones included.
    """

    def __init__(self, persistence: Persistence, errand: Errand, first: Ready, hold: Hold) -> None:
        self.ready = first
        self.made: list[Bought] = []
        self._persistence = persistence
        self._errand = errand
        self._hold = hold
        self._tried = [first.purchase.route]
        self._refused: set[str] = set()
        self._retries = 0
        self._until = errand.asked.tick + errand.asked.limit_s

    @contextmanager
    def calling(
        self, ready: Ready, purpose: Literal["answer", "embedding", "judge"], used: Used, *, left: Callable[[], bool]
    ) -> Generator[None]:
        """Make a call inside the block; what it came to is kept, however it ends.

        Args:
            ready: the call.
            purpose: what it is for.
            used: what it has used so far.
            left: says whether the client has left.

        Raises:
            UpstreamResting: the model is left alone after failures; no call is made, and none is kept.
        """
        ticks = self._persistence.ticks
        deployment = self._persistence.catalogue.deployment(ready.purchase.model)
        probe, began, error = deployment.begin(), ticks(), None
        try:
            yield
        except BaseException as failure:
            error = failure
            raise
        finally:
            ours = isinstance(error, UpstreamTimeout) and self.left_s <= _TOO_LATE_S
            deployment.end(None if ours else error, probe=probe, answered=used.heard)
            self.made.append(self._bought(ready, purpose, used, error, began, left=left()))

    def _bought(
        self,
        ready: Ready,
        purpose: Literal["answer", "embedding", "judge"],
        used: Used,
        error: BaseException | None,
        began: float,
        *,
        left: bool,
    ) -> Bought:
        asked, purchase = self._errand.asked, ready.purchase
        billed = used.heard or purchase.may_be_billed(error)
        bought = Bought(
            model=purchase.model,
            price=self._persistence.catalogue.price_served(purchase.model, used.service, purchase.price),
            purpose=purpose,
            at=asked.at + timedelta(seconds=began - asked.tick),
            seconds=self._persistence.ticks() - began,
            usage=used.reported or (used.guess if billed else None),
            estimated=billed and used.reported is None,
            error=error,
            left=left,
            first_token_s=None if used.first_at is None else used.first_at - asked.tick,
            spared=purchase.tally.prompt.spared,
            prefix=NO_TRACE if ready.prefixes is None else ready.prefixes.ended(used.reported, error),
        )
        self._persistence.purchasing.accounts.failed(self._hold.opening, bought)
        return bought

    @property
    def left_s(self) -> float:
        """What is left of the request's own time, in seconds."""
        return self._until - self._persistence.ticks()

    async def go_on(self, error: UpstreamError) -> None:
        """Get the next call ready after one has failed, with its worst case held beside what the others came to.

        Raises:
            UpstreamError: `error`, when no other call may be made.
        """
        where = again(error)
        if where is Again.NOWHERE or len(self.made) >= self._persistence.attempts or self.left_s <= _TOO_LATE_S:
            raise error
        pause = pause_s(error, self._retries, self._persistence.chance())
        stays = (
            where in {Again.HERE, Again.AT_ONCE} and self._may_stay(where) and pause < min(self.left_s, LONGEST_WAIT_S)
        )
        if stays and pause <= PATIENCE_S and await self._stay(error, pause):
            return
        if await self._move(error):
            return
        if stays and pause > PATIENCE_S and await self._stay(error, pause):
            return
        raise error

    @property
    def hedge_s(self) -> float | None:
        """How long the first call is waited for before there is a second beside it; None for no second."""
        return None if self.made else self._persistence.hedged.get(self._errand.wish.name)

    async def beside(self) -> Ready | None:
        """Get a second call ready beside the one under way, with both held for; None when there is none to be made."""
        route = self._next() if len(self.made) + 2 <= self._persistence.attempts else None
        if route is None:
            return None
        try:
            ready = self._errand.prepare(route)
            await self._hold_for(self.ready, ready)
        except (GovernanceError, NoRoute, BadRequest):
            return None
        self._tried.append(route)
        return ready

    async def stay_with(self, ready: Ready) -> None:
        """Hold for one of two calls alone, when it answers and the other has been stopped."""
        self.ready = ready
        with suppress(GovernanceError):  # then what is held for both goes on being held
            await self._hold_for(ready)

    def _next(self) -> Route | None:
        errand = self._errand
        grant, confined = errand.entitled.grant, errand.entitled.confined
        return self._persistence.catalogue.choose_after(self._tried, errand.wish, grant, confined, beside=self._refused)

    async def _hold_for(self, ready: Ready, beside: Ready | None = None) -> None:
        errand = self._errand
        await self._persistence.purchasing.hold_again(
            self._hold,
            errand.asked,
            errand.entitled,
            ready.purchase,
            errand.cache,
            errand.pressure,
            self.made,
            None if beside is None else beside.purchase,
        )

    def _may_stay(self, where: Again) -> bool:
        resting = self._persistence.catalogue.deployment(self.ready.purchase.model).breaker.resting
        return where is Again.AT_ONCE or (self._retries < self._persistence.retries and not resting)

    async def _stay(self, error: UpstreamError, pause: float) -> bool:
        """Make the same call ready again after a pause; False when it cannot be paid for another time."""
        if not await self._held(self.ready.purchase.route, error):
            return False
        self._retries += again(error) is Again.HERE
        if pause:
            await self._errand.pause(pause)
        return True

    async def _move(self, error: UpstreamError) -> bool:
        """Make a call to somebody else ready; False when there is nobody who may answer and can be paid."""
        while (route := self._next()) is not None:
            if await self._held(route, error):
                self._tried.append(route)
                self._retries = 0
                return True
            self._refused.add(route.model)
        return False

    async def _held(self, route: Route, error: UpstreamError) -> bool:
        """Hold for a call over a route, or say that this one cannot be made.

        Raises:
            UpstreamError: `error`, when nothing at all may be spent any more.
        """
        try:
            ready = self._errand.prepare(route)
            await self._hold_for(ready)
        except (BudgetExhausted, RateLimited, NoRoute, BadRequest):
            return False
        except GovernanceError as refusal:
            raise error from refusal
        self.ready = ready
        return True
