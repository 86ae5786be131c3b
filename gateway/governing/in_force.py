"""The one mutable place that holds what governs; each request reads it once."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from gateway.governing.governed import Governed
from gateway.providers.pool import Lease


@dataclass(slots=True, eq=False)
class Reign:
    """One policy's time in force.

    Attributes:
        id: the decision of the history that put it in force.
        governed: what it makes of this process.
        lease: the open providers it needs, until its last request has ended.
        requests: how many requests are under it now.
    """

    id: int
    governed: Governed
    lease: Lease
    requests: int = 0


class InForce:
    """What governs now. `trouble` says why a newer policy does not, to be shown; empty when this is the newest."""

    def __init__(self, first: Reign, trouble: str = "") -> None:
        self.trouble = trouble
        self._reign = first

    @property
    def id(self) -> int:
        """The decision of the history that is obeyed."""
        return self._reign.id

    @property
    def governed(self) -> Governed:
        """What governs at this instant, for who looks but once."""
        return self._reign.governed

    @contextmanager
    def governing(self) -> Generator[Governed]:
        """Keep what governs now, and its providers open, for the length of one request."""
        reign = self._reign
        reign.requests += 1
        try:
            yield reign.governed
        finally:
            reign.requests -= 1

    def succeed(self, reign: Reign) -> Reign:
        """Let another policy govern from now on, and return the one it follows: its requests are still under it."""
        before, self._reign, self.trouble = self._reign, reign, ""
        return before

    def renew(self, decision: int) -> None:
        """Note that a newer decision is for the policy that governs already."""
        self._reign.id, self.trouble = decision, ""
