"""When the policy lets the work of an app be done."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Self
from zoneinfo import ZoneInfo

from gateway.policy.document import Policy
from governance.deferred.records import Owner
from governance.deferred.windows import OffPeak


@dataclass(frozen=True, slots=True)
class Timetable:
    """The windows of a policy's apps on its calendar; the work of an app without one is always welcome.

    `carried` are the apps whose work may go to the providers' batch APIs.
    """

    timezone: ZoneInfo
    windows: Mapping[Owner, OffPeak]
    carried: frozenset[Owner]

    @classmethod
    def of(cls, document: Policy) -> Self:
        """Read the windows from a policy."""
        apps = [(Owner(team.name, app.name), app.deferred) for team in document.teams for app in team.apps]
        rules = {owner: rule for owner, rule in apps if rule is not None}
        windows = {owner: OffPeak.parse(rule.window) for owner, rule in rules.items()}
        return cls(document.timezone, windows, frozenset(owner for owner in rules if rules[owner].provider_batch))

    def opens(self, owner: Owner, at: datetime) -> datetime:
        """Return the first instant from `at` on at which something may be done for an owner."""
        window = self.windows.get(owner)
        return at if window is None else window.opens(at, self.timezone)

    def closed(self, owner: Owner, at: datetime) -> datetime | None:
        """Return until when nothing may be done for an owner; None when something may now."""
        opens = self.opens(owner, at)
        return opens if opens > at else None
