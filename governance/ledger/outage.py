"""What may still be spent while the database is away: the policy's `on_store_error`, as the ledger obeys it.

The journal keeps what happens meanwhile. How long the company wants to go on like that is its own choice: not at all,
without end (until the journal is full), or up to an amount.
"""

from collections.abc import Callable
from typing import Final, Literal

from governance.errors import LedgerBehind
from governance.ledger.events import EventKind, LedgerEvent
from governance.money import ZERO, Nanodollars

WhenAway = Literal["closed", "open"] | Nanodollars
"""Let nothing in, let everything in, or let requests in whose worst cases fit into an amount per process."""

PATIENCE_S: Final = 2.0
"""Seconds that a database may take to answer before it counts as away."""


class Outage:
    """One stretch in which nothing could be stored, perhaps none. `clock` gives monotonic seconds."""

    def __init__(self, rule: WhenAway, clock: Callable[[], float]) -> None:
        self._rule = rule
        self._clock = clock
        self._since: float | None = None
        self._held: dict[str, Nanodollars] = {}
        self._spent = ZERO

    def obey(self, rule: WhenAway) -> None:
        """Follow another rule from now on. It comes from the database itself, so none comes while that is away."""
        self._rule = rule

    @property
    def seconds(self) -> float:
        """How long storing has been tried without success; 0 when nothing is being stored."""
        return 0.0 if self._since is None else self._clock() - self._since

    @property
    def counts(self) -> bool:
        """Whether the database counts as away."""
        return self.seconds > PATIENCE_S

    def begin(self) -> None:
        """Note that something is to be stored, for the first time or again."""
        if self._since is None:
            self._since = self._clock()

    def end(self) -> None:
        """Note that it is stored."""
        self._since = None
        if self._held or self._spent != ZERO:
            self._held.clear()
            self._spent = ZERO

    def admit(self, queued: int, held: LedgerEvent | None = None) -> None:
        """Let a request in, or let it hold that much: in place of what it held before.

        Raises:
            LedgerBehind: The database is away, and the rule is to refuse, or the amount is used up.
        """
        if not self.counts or self._rule == "open":
            return
        away = f"the database has been away for {self.seconds:.0f} s"
        if not isinstance(self._rule, Nanodollars):
            raise LedgerBehind(queued, away)
        name, asked = ("", ZERO) if held is None else (held.opening.request_id, held.held)
        used = sum((amount for request, amount in self._held.items() if request != name), self._spent)
        if used >= self._rule or used + asked > self._rule:
            raise LedgerBehind(queued, f"{away}, and the {self._rule.usd} USD that may be spent meanwhile are used up")

    def note(self, event: LedgerEvent) -> None:
        """Count what a request holds, or what it came to, if it began while nothing could be stored."""
        if self._since is None or not isinstance(self._rule, Nanodollars):
            return
        if event.kind is EventKind.HELD:
            self._held[event.opening.request_id] = event.held
        elif self._held.pop(event.opening.request_id, None) is not None:
            self._spent += event.cost
