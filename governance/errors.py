"""What governance refuses, and why.

    GovernanceError
    ├── Unauthenticated      the key is malformed, unknown, revoked or expired
    ├── UnknownTeam          the key outlived its team or app in the policy
    ├── UnknownKey           no key has this public id
    ├── BudgetExhausted      a budget cannot cover the request's worst case
    ├── RateLimited          a request, token or concurrency limit is reached
    ├── NotMoney             a text or number is not an exact amount of money
    ├── StoreUnavailable     the database or the counters' store does not answer
    │   └── StoreUnfit       it answers, but is not set up for what is asked of it
    └── LedgerBehind         the ledger's queue is full; nothing more may be spent until it drains

Each carries its facts as attributes; the text is for people. None of them knows how it is shown on the wire.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from datetime import datetime

    from governance.money import Nanodollars


class GovernanceError(Exception):
    """The root of every refusal and failure that governance raises."""


class Unauthenticated(GovernanceError):
    """A key that opens nothing; `reason` says why without saying whose it was."""

    def __init__(self, reason: Literal["malformed", "unknown", "revoked", "expired"]) -> None:
        super().__init__(f"the key is {reason}")
        self.reason = reason


class UnknownTeam(GovernanceError):
    """A team or app that the policy in force does not have."""

    def __init__(self, team: str, app: str) -> None:
        super().__init__(f"the policy has no app {app!r} in a team {team!r}")
        self.team = team
        self.app = app


class UnknownKey(GovernanceError):
    """A public id that belongs to no key."""

    def __init__(self, key_id: str) -> None:
        super().__init__(f"there is no key {key_id!r}")
        self.key_id = key_id


class BudgetExhausted(GovernanceError):
    """A budget that cannot cover the worst case of a request.

    `window` is the budget's window kind, or `request` for a limit on each single request; that one has no `resets_at`.
    """

    def __init__(
        self,
        *,
        scope: str,
        limit: Nanodollars,
        spent: Nanodollars,
        held: Nanodollars,
        asked: Nanodollars,
        window: str,
        resets_at: datetime | None,
    ) -> None:
        super().__init__(
            f"the {window} budget of {scope} is {limit.usd} USD: {spent.usd} spent, {held.usd} held, {asked.usd} asked"
        )
        self.scope = scope
        self.limit = limit
        self.spent = spent
        self.held = held
        self.asked = asked
        self.window = window
        self.resets_at = resets_at


class RateLimited(GovernanceError):
    """A limit on requests or tokens per minute, or on requests at the same time."""

    def __init__(
        self,
        *,
        scope: str,
        unit: Literal["requests", "tokens", "concurrent"],
        limit: int,
        asked: int,
        retry_after_s: float,
    ) -> None:
        super().__init__(f"{scope} is limited to {limit} {_RATE_NAMES[unit]}; this request asks for {asked}")
        self.scope = scope
        self.unit = unit
        self.limit = limit
        self.asked = asked
        self.retry_after_s = retry_after_s

    @property
    def never_fits(self) -> bool:
        """Whether the request alone is over the limit, so that waiting cannot help."""
        return self.asked > self.limit


class NotMoney(GovernanceError):
    """A value that is not an exact, sensible amount of money; `text` is the value as it was given."""

    def __init__(self, text: str, why: str) -> None:
        super().__init__(f"{text} is not an amount of money: {why}")
        self.text = text
        self.why = why


class StoreUnavailable(GovernanceError):
    """A store that does not answer; `reason` holds no address and no secret."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the store is unavailable: {reason}")
        self.reason = reason


class StoreUnfit(StoreUnavailable):
    """A store that must be set up otherwise before it can serve; waiting does not help."""


class LedgerBehind(GovernanceError):
    """A ledger whose queue is full, because the database is away or too slow."""

    def __init__(self, queued: int, limit: int) -> None:
        super().__init__(f"the ledger is behind: {queued} entries wait, the limit is {limit}")
        self.queued = queued
        self.limit = limit


_RATE_NAMES = {
    "requests": "requests per minute",
    "tokens": "tokens per minute",
    "concurrent": "requests at the same time",
}
