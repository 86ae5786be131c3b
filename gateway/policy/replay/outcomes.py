"""What a replay found, added up per team."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from governance.money import Nanodollars

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(slots=True)
class TeamOutcome:
    """One team's traffic under the new policy, beside what it was.

    Attributes:
        requests: All that arrived.
        recorded: What they cost, in nano-dollars.
        replayed: What they would have cost; what is queued is spent later and counts here.
        refused: Calls that were let through and would be refused.
        admitted: Calls that were refused and would be let through.
        queued: Calls that would wait.
        moved: Calls that another model would answer.
        moved_zone: Those of them that would be answered in another zone.
        estimated: Calls whose cost is an estimate.
        unpriced: Calls whose new cost nobody can know; they count as they were, or as nothing if they were not made.
        moves: How many calls moved from which model to which.
        reasons: What stood in the way of those refused or queued, and how often.
    """

    requests: int = 0
    recorded: int = 0
    replayed: int = 0
    refused: int = 0
    admitted: int = 0
    queued: int = 0
    moved: int = 0
    moved_zone: int = 0
    estimated: int = 0
    unpriced: int = 0
    moves: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    reasons: Counter[str] = field(default_factory=Counter[str])

    @property
    def saved(self) -> Nanodollars:
        """What would have been saved; negative when more would have been spent."""
        return Nanodollars(self.recorded - self.replayed)

    @property
    def changed(self) -> bool:
        """Whether anything at all would be otherwise."""
        return self.recorded != self.replayed or any((self.refused, self.admitted, self.queued, self.moved))

    def add(self, other: TeamOutcome) -> None:
        """Count another team's traffic as this one's too, for totals."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.moves.update(other.moves)
        self.reasons.update(other.reasons)

    def facts(self) -> dict[str, Any]:
        """Return the outcome as plain data, sorted."""
        return {
            "requests": self.requests,
            "recorded_usd": Nanodollars(self.recorded).usd,
            "replayed_usd": Nanodollars(self.replayed).usd,
            "saved_usd": self.saved.usd,
            **{name: getattr(self, name) for name in _COUNTS[3:]},
            "moves": [{"from": a, "to": b, "calls": calls} for (a, b), calls in sorted(self.moves.items())],
            "reasons": dict(sorted(self.reasons.items())),
        }


_COUNTS = (
    "requests",
    "recorded",
    "replayed",
    "refused",
    "admitted",
    "queued",
    "moved",
    "moved_zone",
    "estimated",
    "unpriced",
)


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """A replay of the traffic that arrived in `since <= at < until` through the policy of a version."""

    source: str
    version: str
    since: datetime
    until: datetime
    teams: dict[str, TeamOutcome]

    @property
    def total(self) -> TeamOutcome:
        """All teams together."""
        total = TeamOutcome()
        for outcome in self.teams.values():
            total.add(outcome)
        return total

    def only(self, team: str | None) -> ReplayReport:
        """Return the report about one team alone; all were replayed, for they share counters."""
        kept = self.teams if team is None else {team: self.teams.get(team, TeamOutcome())}
        return ReplayReport(self.source, self.version, self.since, self.until, kept)

    def facts(self) -> dict[str, Any]:
        """Return the report for programs, as plain data."""
        return {
            "source": self.source,
            "version": self.version,
            "since": self.since.isoformat(),
            "until": self.until.isoformat(),
            "changed": self.total.changed,
            "teams": {name: outcome.facts() for name, outcome in sorted(self.teams.items())},
            "total": self.total.facts(),
        }
