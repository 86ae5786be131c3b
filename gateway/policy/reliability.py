"""The `reliability` section: how long providers are waited for, and what is done when one fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from cache.config import Duration
from gateway.attempts.breaker import BreakerRule
from governance.policy.fields import Percent
from governance.policy.sections import Count, Section
from router_models.config import Label


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """How long one provider is waited for, in seconds.

    Attributes:
        connect_s: For a connection to it.
        first_token_s: From the call to the first piece of an answer.
        idle_s: Between two pieces of one.
        total_s: For a request as a whole, every attempt included; of one provider, for each call to it.
    """

    connect_s: float = 5.0
    first_token_s: float = 120.0
    idle_s: float = 120.0
    total_s: float = 600.0

    def overridden(self, section: TimeoutsSection) -> Timeouts:
        """Return these with what a section says of its own."""
        return Timeouts(
            connect_s=section.connect or self.connect_s,
            first_token_s=section.first_token or self.first_token_s,
            idle_s=section.idle or self.idle_s,
            total_s=section.total or self.total_s,
        )


class TimeoutsSection(Section):
    """How long providers are waited for; what is absent is as around it.

    Attributes:
        connect: For a connection; 5s by default.
        first_token: From the call to the first piece of an answer; 120s by default.
        idle: Between two pieces of one; 120s by default.
        total: For a request as a whole, every attempt included, or of one provider for each call; 600s by default.
    """

    connect: Duration | None = None
    first_token: Duration | None = None
    idle: Duration | None = None
    total: Duration | None = None


class BreakerSection(Section):
    """When a model of a provider is left alone for a while.

    Attributes:
        failures: So many failures in a row are enough.
        share: So large a share of the calls within the span is enough, once there were twice as many as `failures`.
        within: The span, in seconds.
        pause: How long it is left alone, in seconds, before one call may try it again.
    """

    failures: Count = 5
    share: Percent = 50
    within: Duration = 60
    pause: Duration = 30

    @property
    def rule(self) -> BreakerRule:
        """The rule as a breaker reads it."""
        return BreakerRule(failures=self.failures, percent=self.share, within_s=self.within, pause_s=self.pause)


class HedgeSection(Section):
    """Which requests are made a second time, to somebody else, when nobody has begun to answer.

    Attributes:
        after: How long the first call is waited for, in seconds.
        models: What is asked for: routes, or models with several deployments.
    """

    after: Duration
    models: Annotated[tuple[Label, ...], Field(min_length=1)]


Balance = Literal["cheapest", "least_busy"]
"""Which of a model's deployments is called first: the cheapest, or the one with the fewest calls in flight."""


class Reliability(Section):
    """What is done so that a provider's failure is not the caller's.

    Attributes:
        retries: How often a failed call is made again where it failed.
        attempts: The most calls for one request, all together.
        balance: Which of equal deployments is called first.
        breaker: When a model of a provider is left alone.
        hedge: Which requests are made a second time when the first call is slow; none by default.
        timeouts: How long providers are waited for.
        keep_alive: After so long a silence a client of a stream is sent a comment, which keeps its connection.
    """

    retries: Annotated[int, Field(strict=True, ge=0, le=10)] = 2
    attempts: Annotated[int, Field(strict=True, ge=1, le=20)] = 4
    balance: Balance = "cheapest"
    breaker: BreakerSection = BreakerSection()
    hedge: HedgeSection | None = None
    timeouts: TimeoutsSection = TimeoutsSection()
    keep_alive: Duration = 15

    @property
    def hedged(self) -> dict[str, float]:
        """How many seconds the first call of each name that is hedged is waited for."""
        return {} if self.hedge is None else dict.fromkeys(self.hedge.models, float(self.hedge.after))

    def timeouts_of(self, own: TimeoutsSection | None) -> Timeouts:
        """Return how long a provider with such a section of its own is waited for."""
        everyones = Timeouts().overridden(self.timeouts)
        return everyones if own is None else everyones.overridden(own)
