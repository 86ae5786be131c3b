"""What a replay found, added up per team."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from governance.money import Nanodollars

if TYPE_CHECKING:
    from datetime import datetime


class Move(NamedTuple):
    """From one model to another, and why a gateway would choose it, such as `budget:downgrade` or `tier:<weak>`."""

    before: str
    after: str
    why: str


class Obstacle(NamedTuple):
    """What stops a call, and whether it would wait for it rather than be refused."""

    why: str
    queues: bool = False


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
        tightened: Calls that a budget would keep shorter than they were.
        estimated: Calls whose cost is an estimate.
        unpriced: Calls whose new cost nobody can know; they count as they were, or as nothing if they were not made.
        moves: How many calls moved from which model to which, and why.
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
    tightened: int = 0
    estimated: int = 0
    unpriced: int = 0
    moves: Counter[Move] = field(default_factory=Counter[Move])
    reasons: Counter[str] = field(default_factory=Counter[str])

    @property
    def saved(self) -> Nanodollars:
        """What would have been saved; negative when more would have been spent."""
        return Nanodollars(self.recorded - self.replayed)

    @property
    def changed(self) -> bool:
        """Whether anything at all would be otherwise."""
        counts = (self.refused, self.admitted, self.queued, self.moved, self.tightened)
        return self.recorded != self.replayed or any(counts)

    def let_through(self, cost: int, *, estimated: bool, unpriced: bool) -> None:
        """Count a call that is made, at what it costs."""
        self.replayed += cost
        self.estimated += estimated
        self.unpriced += unpriced

    def move(self, move: Move, *, zone_changed: bool) -> None:
        """Count a call that another model answers."""
        self.moves[move] += 1
        self.moved += 1
        self.moved_zone += zone_changed

    def stop(self, obstacle: Obstacle, cost: int) -> None:
        """Count a call that is not made now, and what it costs if it is made later."""
        self.reasons[f"queued by {obstacle.why}" if obstacle.queues else obstacle.why] += 1
        if obstacle.queues:
            self.queued += 1
            self.replayed += cost
        else:
            self.refused += 1

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
            "moves": [
                {"from": move.before, "to": move.after, "why": move.why, "calls": calls}
                for move, calls in sorted(self.moves.items())
            ],
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
    "tightened",
    "estimated",
    "unpriced",
)


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """A replay of the traffic that arrived in `since <= at < until` through the policy of a version.

    `left_out` says, a sentence each, what of the policies could not be replayed over this traffic.
    """

    source: str
    version: str
    since: datetime
    until: datetime
    teams: dict[str, TeamOutcome]
    left_out: tuple[str, ...] = ()

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
        return ReplayReport(self.source, self.version, self.since, self.until, kept, self.left_out)

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
            "left_out": list(self.left_out),
        }
