"""What a policy makes of sensitive text: zones that a request may not leave.

Zones that the policy lists are ordered from the widest to the strictest, and a request confined to one may also run in
those that are stricter. Zones it does not list stand alone: a request that two of them would confine has nowhere to go.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from governance.errors import Unconfinable
from governance.sensitivity.finding import Kind

ALLOW: Final = "allow"
REFUSE: Final = "refuse"
UNREAD: Final = "unread"
"""The label of what nobody here could read."""


@dataclass(frozen=True, slots=True)
class Confined:
    """Where one request may go. Only `Confinement.confine` should make one, from what the request says.

    Attributes:
        zone: The widest zone it may be answered in; None for anywhere.
        within: All zones it may be answered in, where it is confined.
        labels: What was found in it, or in its session before.
    """

    zone: str | None = None
    within: frozenset[str] = frozenset()
    labels: tuple[str, ...] = ()

    def permits(self, zone: str) -> bool:
        """Say whether it may go to a zone."""
        return self.zone is None or zone in self.within


UNCONFINED: Final = Confined()


@dataclass(frozen=True, slots=True)
class Confinement:
    """What a policy says of sensitive text.

    Attributes:
        kinds: What is looked for.
        rules: For a label: `allow`, `refuse`, or a zone.
        zones: Zones from the widest to the strictest.
        sticky: Labels hold for the rest of a session.
    """

    kinds: frozenset[Kind] = frozenset()
    rules: Mapping[str, str] = field(default_factory=dict[str, str])
    zones: tuple[str, ...] = ()
    sticky: bool = False

    def confine(self, labels: Collection[str], wished: str | None = None) -> Confined:
        """Return where a request may go.

        Args:
            labels: What was found in it, and in its session before.
            wished: The zone that its caller confines it to; None for none.

        Raises:
            Unconfinable: It may go nowhere.
        """
        found = tuple(sorted(labels))
        refused = tuple(label for label in found if self.rules.get(label, ALLOW) == REFUSE)
        if refused:
            raise Unconfinable(refused, ())
        wanted = {zone for label in found if (zone := self.rules.get(label, ALLOW)) != ALLOW}
        wanted |= {wished} if wished is not None else set()
        if not wanted:
            return Confined(labels=found)
        within = frozenset.intersection(*(self._from(zone) for zone in wanted))
        if not within:
            raise Unconfinable(found, tuple(sorted(wanted)))
        ordered = [zone for zone in self.zones if zone in within] or sorted(within)
        return Confined(ordered[0], within, found)

    def to(self, zone: str | None) -> Confined:
        """Return what is confined to a zone and has no labels, as a request on record."""
        return UNCONFINED if zone is None else Confined(zone, self._from(zone))

    def _from(self, zone: str) -> frozenset[str]:
        """Return a zone with all that are stricter."""
        if zone not in self.zones:
            return frozenset({zone})
        return frozenset(self.zones[self.zones.index(zone) :])


UNRULED: Final = Confinement()
