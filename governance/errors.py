"""What governance refuses, and why.

    GovernanceError
    ├── Unauthenticated      there is no key, or it is malformed, unknown, revoked or expired
    ├── UnknownTeam          the key outlived its team or app in the policy
    ├── UnknownKey           no key has this public id, or it is closed already
    ├── UnknownPerson        no person has this id
    ├── UnknownFile          the app has no file of this id
    ├── UnknownBatch         the app has no batch of this id
    ├── BatchEnded           the batch has ended, so that it cannot be cancelled
    ├── Forbidden            the person's role does not allow the act
    ├── TooManyGuesses       an address has offered too many wrong admin keys
    ├── BudgetExhausted      a budget cannot cover the request's worst case
    ├── RateLimited          a request, token or concurrency limit is reached
    ├── ContextTooLong       a prompt has more tokens than the policy lets it have
    ├── LoopDetected         a caller goes round in circles
    ├── Unconfinable         what is in the request may go nowhere
    ├── ContentBlocked       a guardrail does not let a request, or an answer, pass
    ├── IdempotencyKeyReused an idempotency key stands for another request already
    ├── IdempotencyKeyBusy   the first request of an idempotency key still runs
    ├── NotMoney             a text or number is not an exact amount of money
    ├── StoreUnavailable     the database or the counters' store does not answer
    │   └── StoreUnfit       it answers, but is not set up for what is asked of it
    └── LedgerBehind         nothing more may be spent until the ledger can be written again

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

    def __init__(self, reason: Literal["missing", "malformed", "unknown", "revoked", "expired"]) -> None:
        super().__init__(_NO_KEY if reason == "missing" else f"the key is {reason}")
        self.reason = reason


class UnknownTeam(GovernanceError):
    """A team or app that the policy in force does not have."""

    def __init__(self, team: str, app: str) -> None:
        super().__init__(f"the policy has no app {app!r} in a team {team!r}")
        self.team = team
        self.app = app


class UnknownKey(GovernanceError):
    """A public id that belongs to no open key; `revoked_at` says since when, if it ever was one."""

    def __init__(self, key_id: str, revoked_at: datetime | None = None) -> None:
        if revoked_at is None:
            super().__init__(f"there is no key {key_id!r}")
        else:
            super().__init__(f"the key {key_id!r} was revoked at {revoked_at:%Y-%m-%d %H:%M:%S} UTC")
        self.key_id = key_id
        self.revoked_at = revoked_at


class UnknownPerson(GovernanceError):
    """An id that belongs to no person, or to one whose key is revoked."""

    def __init__(self, person_id: str) -> None:
        super().__init__(f"there is no person {person_id!r}")
        self.person_id = person_id


class UnknownFile(GovernanceError):
    """An id that belongs to no file of the app that asks."""

    def __init__(self, file_id: str) -> None:
        super().__init__(f"there is no file {file_id!r}")
        self.file_id = file_id


class UnknownBatch(GovernanceError):
    """An id that belongs to no batch of the app that asks."""

    def __init__(self, batch_id: str) -> None:
        super().__init__(f"there is no batch {batch_id!r}")
        self.batch_id = batch_id


class BatchEnded(GovernanceError):
    """A batch that cannot be cancelled, because it has ended with a `status` of its own."""

    def __init__(self, batch_id: str, status: str) -> None:
        super().__init__(f"the batch {batch_id!r} has ended: its status is {status}")
        self.batch_id = batch_id
        self.status = status


class Forbidden(GovernanceError):
    """Something that a person's role does not allow, or not for this team."""

    def __init__(self, role: str, right: str, team: str | None) -> None:
        super().__init__(f"the role {role} may not {right}{'' if team is None else f' of team {team!r}'}")
        self.role = role
        self.right = right
        self.team = team


class TooManyGuesses(GovernanceError):
    """An address has guessed too often; `retry_after_s` says when it may again."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__(f"too many guesses; try again in {retry_after_s:.0f} s")
        self.retry_after_s = retry_after_s


class BudgetExhausted(GovernanceError):
    """A budget that cannot cover the worst case of a request.

    `window` is what the budget runs over, or `request` for a limit on each single request; that one has no `resets_at`.
    `queues` tells that the policy wants the work to wait rather than to be refused.
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
        queues: bool = False,
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
        self.queues = queues


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


class LoopDetected(GovernanceError):
    """A caller that makes the very same request too often, or a session of too many requests.

    `what` is `request` or `session`; waiting does not help, because what loops would loop on.
    """

    def __init__(self, *, what: str, limit: int, window: str) -> None:
        same = "the very same request was made" if what == "request" else "requests were made in one session"
        super().__init__(f"this looks like a loop: {same} more often than its limit allows (window {window})")
        self.what = what
        self.limit = limit
        self.window = window

    @property
    def facts(self) -> dict[str, object]:
        """What a client may know of it."""
        return {"what": self.what, "limit": self.limit, "window": self.window}


class ContentBlocked(GovernanceError):
    """A rule of the policy's guardrails found something; what it was is nobody's to repeat."""

    def __init__(self, rule: str, on: Literal["input", "output"]) -> None:
        super().__init__(f"the {'request' if on == 'input' else 'answer'} was blocked by the guardrail {rule!r}")
        self.rule = rule
        self.on = on

    @property
    def facts(self) -> dict[str, str]:
        """What a client may know of it."""
        return {"rule": self.rule, "on": self.on}


class ContextTooLong(GovernanceError):
    """A prompt of more `tokens`, as estimated, than its `limit`."""

    def __init__(self, tokens: int, limit: int) -> None:
        super().__init__(f"this prompt has about {tokens} tokens, and may have at most {limit}")
        self.tokens = tokens
        self.limit = limit


class Unconfinable(GovernanceError):
    """A request with sensitive text that may go nowhere.

    Attributes:
        kinds: What was found in it: never the text.
        zones: The zones that would each confine it, where no provider can be in all of them; empty for a kind that is
            refused.
    """

    def __init__(self, kinds: tuple[str, ...], zones: tuple[str, ...]) -> None:
        what = ", ".join(kinds) or "its caller's wish"
        why = f"confine it to {' and '.join(zones)}, which have no place in common" if zones else "may go nowhere"
        super().__init__(f"what was found in the request ({what}) {why if zones else f'{why} by the policy'}")
        self.kinds = kinds
        self.zones = zones


class IdempotencyKeyReused(GovernanceError):
    """An idempotency key that stands for another request."""

    def __init__(self) -> None:
        super().__init__("this Idempotency-Key was used for another request: a new request needs a new one")


class IdempotencyKeyBusy(GovernanceError):
    """An idempotency key whose first request still runs; `retry_after_s` says when to ask again."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__("the first request with this Idempotency-Key is still being answered")
        self.retry_after_s = retry_after_s


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
    """A ledger that takes no new requests; `queued` entries wait, and `reason` says what keeps it from writing them."""

    def __init__(self, queued: int, reason: str) -> None:
        super().__init__(f"the ledger takes no new requests: {reason}")
        self.queued = queued
        self.reason = reason


_NO_KEY = "no key was given: send `Authorization: Bearer sk-sluice-…`"
_RATE_NAMES = {
    "requests": "requests per minute",
    "tokens": "tokens per minute",
    "concurrent": "requests at the same time",
}
