"""Put another policy in force, or beside the one in force: checked, compared, written down with who and when.

The command line and the admin API act through here and nowhere else. Nothing is told to running gateways: they look
at the history several times a second.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from gateway.errors import UnknownPolicy
from gateway.policy.change.differences import differences
from gateway.policy.history.reading import facts_of, find, in_force, load
from governance.policy import history
from governance.policy.history import Mode, Written

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from gateway.policy.change.differences import Change
    from gateway.policy.source import LoadedPolicy
    from governance.audit.chain import Actor, Fact
    from governance.database import Database
    from governance.policy.history import Applied

_MOST_TOLD: Final = 100
"""How many changes the audit log names; the whole difference is there to be computed."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided, and how it differs from the policy in force before; `before` is empty when there was none."""

    applied: Applied
    before: str
    changes: tuple[Change, ...]

    def facts(self) -> dict[str, Any]:
        """Return it for programs, as plain data."""
        return facts_of(self.applied) | {"before": self.before or None, "changes": [str(one) for one in self.changes]}


@dataclass(frozen=True, slots=True)
class History:
    """The history, for somebody who decides.

    Attributes:
        database: Where it is.
        env: Where `${NAME}` is looked up.
        by: Who decides.
    """

    database: Database
    env: Mapping[str, str]
    by: Actor

    async def apply(
        self, written: Written, policy: LoadedPolicy, at: datetime, *, shadow: bool = False, note: str = ""
    ) -> Decision:
        """Put a policy in force; with `shadow`, only try it beside the one in force.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        mode = Mode.SHADOW if shadow else Mode.ACTIVE
        while True:
            seen = await history.newest_id(self.database)
            standing = await in_force(self.database, self.env, at)
            before = None if standing is None else standing.policy
            changes = () if before is None else await asyncio.to_thread(differences, before, policy)
            facts: dict[str, Fact] = {"before": None if before is None else before.version, "changes": _told(changes)}
            applied = await history.apply(
                self.database, mode, written, over=seen, by=self.by, at=at, note=note, facts=facts
            )
            if applied is not None:
                return Decision(applied, "" if before is None else before.version, changes)

    async def roll_back(self, version: str | None, at: datetime, note: str = "") -> Decision:
        """Put a policy of the past in force again: the one of a version, or the one before the one in force.

        Raises:
            UnknownPolicy: There is no such version, or nothing before.
            PolicyInvalid: This program cannot read it.
            StoreUnavailable: The database does not answer.
        """
        past = await (self._before() if version is None else find(self.database, version))
        policy = await load(past, self.env, at)
        # A source of its own: a file that was rolled back is not news to the next start, which would undo it.
        again = Written(past.policy.version, past.policy.text, f"rollback to {past.policy.version}")
        return await self.apply(again, policy, at, note=note)

    async def end_shadow(self, at: datetime) -> Applied | None:
        """Try no policy beside the one in force any more; None when none is tried.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        while True:
            seen = await history.newest_id(self.database)
            tried = await history.shadow(self.database)
            if tried is None:
                return None
            ended = Written(tried.policy.version, "", tried.policy.source)
            applied = await history.apply(self.database, Mode.UNSHADOWED, ended, over=seen, by=self.by, at=at)
            if applied is not None:
                return applied

    async def _before(self) -> Applied:
        """Return the newest decision for another version than the one in force."""
        newest = last = await history.newest(self.database, Mode.ACTIVE)
        while newest is not None and last is not None:
            last = await history.newest(self.database, Mode.ACTIVE, before=last.id)
            if last is not None and last.policy.version != newest.policy.version:
                return last
        raise UnknownPolicy("there is no policy to roll back to: the history has no other", "")


def _told(changes: tuple[Change, ...]) -> list[str]:
    told = [str(change) for change in changes[:_MOST_TOLD]]
    return told if len(changes) <= _MOST_TOLD else [*told, f"… and {len(changes) - _MOST_TOLD} more"]
