"""What the policy in the shade would have done: the traffic since it was put there, run through it.

Nothing of it happens on the path of a request, and nothing is recorded twice. A request's own event in the ledger says
all that another policy needs to know of it, so what the shadow would have done is found when somebody asks, by the
replay's own rules: the same answer whoever asks, over restarts, for every worker and host that writes this ledger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gateway.policy.history.reading import facts_of, known, load
from gateway.policy.replay.recorded import replay
from governance.ledger.reading.traffic import traffic_size
from governance.policy import history
from governance.policy.history import Applied, Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from gateway.policy.replay.outcomes import ReplayReport
    from governance.database import Database


@dataclass(frozen=True, slots=True)
class Shade:
    """A policy's time beside the one in force; `until` is None while it lasts."""

    tried: Applied
    until: datetime | None

    async def size(self, database: Database, at: datetime) -> int:
        """Count the requests that the report is about."""
        return await traffic_size(database, self.tried.at, self.until or at)

    async def report(
        self, database: Database, env: Mapping[str, str], at: datetime, progress: Callable[[int], None]
    ) -> ReplayReport:
        """Say what the policy would have done, up to an instant.

        Raises:
            PolicyInvalid: This program cannot read it.
            StoreUnavailable: The database does not answer.
        """
        policy = await load(self.tried, env, at)
        policies = await known(database, env, at)
        return await replay(database, policy, policies, self.tried.at, self.until or at, progress)

    def facts(self, report: ReplayReport) -> dict[str, Any]:
        """Return a report of it for programs, as plain data."""
        return report.facts() | {"shadow": facts_of(self.tried), "lasts": self.until is None}


async def last_shade(database: Database) -> Shade | None:
    """Return the shadow of now, or else the last one there was.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    last = await history.newest(database, Mode.SHADOW, Mode.UNSHADOWED)
    if last is None or last.mode is Mode.SHADOW:
        return None if last is None else Shade(last, None)
    tried = await history.newest(database, Mode.SHADOW, before=last.id)
    return None if tried is None else Shade(tried, last.at)
