"""What the ledger records: the story of each request as values that never change.

Every request makes them and the journal encodes them, so they are of the kind that is quickest at both, and that
the garbage collector leaves alone: none of them can be part of a cycle.
"""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal

from msgspec import Struct

from governance.attribution import Attribution
from governance.money import ZERO, Nanodollars
from governance.prices import Price, Usage

JUDGE: Final = "judge"
"""The endpoint and the purpose of what the gateway asks a model itself, to have two answers compared."""


class EventKind(StrEnum):
    """What happened to a request. All but `held` are terminal, and a request has exactly one terminal event."""

    HELD = "held"
    SETTLED = "settled"
    CANCELLED = "cancelled"
    REFUSED = "refused"
    EXPIRED = "expired"


Outcome = Literal["ok", "failed", "left"]


class Opening(Struct, frozen=True, kw_only=True, gc=False):
    """What is known of a request before any money is spent.

    `at` is when it arrived (aware); its budget windows are those of this instant, however long it runs.
    `model`, `provider` and `route` are the plan. `zone` is the widest zone that it may be answered in, empty for any,
    and `labels` the kinds of sensitive text it has, parted by commas. `context` says what was cut of the prompt, or
    would be.
    """

    request_id: str
    at: datetime
    endpoint: str
    attribution: Attribution
    key_id: str
    model: str
    policy_version: str
    provider: str = ""
    route: str = ""
    cache: str = "miss"
    stream: bool = False
    zone: str = ""
    labels: str = ""
    context: str = ""

    @property
    def values(self) -> dict[str, str | None]:
        """Its value of each dimension that a budget may be about, by the dimension's name and its column's."""
        who = self.attribution
        return {
            "team": who.team,
            "app": who.app,
            "feature": who.feature,
            "workflow": who.workflow,
            "model": self.model,
            "segment": who.segment,
            "environment": who.environment,
            "session": who.session,
            "user": who.user,
            "end_user": who.user,
            "key_id": self.key_id,
        }


class Attempt(Struct, frozen=True, kw_only=True, gc=False):
    """One call to an upstream, whoever it was for; our own calls (embedding, judge, shadow, guardrail) are marked.

    `model` is the policy's name, `upstream_model` the provider's, and `zone` where that is. `usage` is None when the
    upstream told none.

    `saved_prefix` is what the provider's own cache of prompts made of the cost: what was spared on what it read, less
    what writing cost beyond fresh input; negative where more was written than read. `prefix_wrote` names what was
    written because we marked it, as `<prefix>:<tokens>` from the shortest on, parted by commas; `prefix_read` is the
    prefix that was read.
    """

    at: datetime
    purpose: Literal["answer", "embedding", "count", "judge", "shadow", "guardrail"]
    provider: str
    model: str
    upstream_model: str
    outcome: Outcome
    price: Price
    cost: Nanodollars
    duration_ms: float
    status: int | None = None
    usage: Usage | None = None
    saved_prefix: Nanodollars = ZERO
    prefix_wrote: str = ""
    prefix_read: str = ""
    zone: str = ""


class Settlement(Struct, frozen=True, kw_only=True, gc=False):
    """How a request ended.

    `usage` is the answer's tokens, None when there are none to speak of; `estimated` tells that they were counted here
    because the upstream did not. `saved_context` is what the tokens that were cut of the prompt would have cost at the
    model that answered. `left` means that the client went away. `status` is the HTTP status the caller saw and
    `code` the contract's error code, if any.
    """

    outcome: Outcome
    status: int
    attempts: tuple[Attempt, ...] = ()
    usage: Usage | None = None
    estimated: bool = False
    code: str = ""
    saved_cache: Nanodollars = ZERO
    saved_routing: Nanodollars = ZERO
    first_token_ms: float | None = None
    saved_context: Nanodollars = ZERO

    @property
    def cost(self) -> Nanodollars:
        """What the request cost: the sum over its attempts, so that the two can never disagree."""
        return Nanodollars(sum([attempt.cost.nanos for attempt in self.attempts]))

    @property
    def tokens(self) -> int:
        """The tokens that it used, over its attempts."""
        return tokens_of(self.attempts)

    @property
    def saved_prefix(self) -> Nanodollars:
        """What providers' caches of prompts spared, less what it cost to write them: the sum over its attempts."""
        return Nanodollars(sum([attempt.saved_prefix.nanos for attempt in self.attempts]))

    @property
    def saved(self) -> Nanodollars:
        """What the request spared, over all levers; negative when it cost more than the baseline without a cache."""
        return self.saved_cache + self.saved_routing + self.saved_prefix + self.saved_context


def tokens_of(attempts: Iterable[Attempt]) -> int:
    """Return the tokens that attempts used, as far as anybody knows."""
    return sum([attempt.usage.total for attempt in attempts if attempt.usage is not None])


class LedgerEvent(Struct, frozen=True, kw_only=True, gc=False):
    """One row of the ledger; a request that holds anew for another attempt replaces what it held.

    `duration_ms` counts from the opening's `at`, and is None while the request runs; of one that holds, `lease_until`
    is when its hold ends by itself, in seconds since the epoch.
    """

    kind: EventKind
    opening: Opening
    held: Nanodollars = ZERO
    cost: Nanodollars = ZERO
    code: str = ""
    status: int | None = None
    settlement: Settlement | None = None
    duration_ms: float | None = None
    lease_until: float | None = None


class LedgerAttempt(Struct, frozen=True, gc=False):
    """An attempt and its place in a request; `n` counts from 1."""

    request_id: str
    n: int
    attempt: Attempt


Entry = LedgerEvent | LedgerAttempt
"""What the ledger is told."""
