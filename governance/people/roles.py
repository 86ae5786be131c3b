"""Who may do what: four roles, and one table."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from governance.audit.chain import Actor
from governance.errors import Forbidden


class Role(StrEnum):
    """What a person is here for. A team-lead is one of a single team, and sees and changes nothing beyond it."""

    OWNER = "owner"
    PLATFORM = "platform"
    TEAM_LEAD = "team-lead"
    AUDITOR = "auditor"


class Right(StrEnum):
    """Something that a person may want to do, in the words of a refusal."""

    SEE_SPEND = "see spend"
    SEE_KEYS = "see keys"
    CHANGE_KEYS = "change keys"
    SEE_PEOPLE = "see people"
    CHANGE_PEOPLE = "change people"
    SEE_AUDIT = "see the audit log"
    SEE_POLICY = "see the policy"
    CHANGE_POLICY = "change the policy"


_SEE = frozenset({Right.SEE_SPEND, Right.SEE_KEYS, Right.SEE_PEOPLE, Right.SEE_AUDIT, Right.SEE_POLICY})

RIGHTS: Mapping[Role, frozenset[Right]] = MappingProxyType(
    {
        Role.OWNER: frozenset(Right),
        Role.PLATFORM: _SEE | {Right.CHANGE_KEYS, Right.CHANGE_POLICY},
        Role.TEAM_LEAD: frozenset({Right.SEE_SPEND, Right.SEE_KEYS, Right.CHANGE_KEYS, Right.SEE_AUDIT}),
        Role.AUDITOR: _SEE,
    }
)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who administers.

    Attributes:
        id: the public id of their key; `owner` for whoever holds the installation's own admin key.
        name: what people call them.
        role: what they may do.
        team: the one team of a team-lead; None for all other roles.
    """

    id: str
    name: str
    role: Role
    team: str | None = None
    created_at: datetime | None = None
    revoked_at: datetime | None = None

    @property
    def actor(self) -> Actor:
        """How the audit log names them."""
        return Actor(f"{self.name} ({self.id})" if self.id != self.name else self.id, self.role.value)

    def require(self, right: Right, team: str | None = None) -> None:
        """Let an act pass, or say that it may not.

        Args:
            right: What they want to do.
            team: The team it concerns; None for what concerns no team in particular.

        Raises:
            Forbidden: The role does not allow it, or not for this team.
        """
        if right not in RIGHTS[self.role] or (team is not None and self.team not in (None, team)):
            raise Forbidden(self.role.value, right.value, team)


OWNER = Person("owner", "owner", Role.OWNER)
"""Whoever holds the admin key of the installation: `SLUICE_ADMIN_KEY`, or `admin.key` in the home folder."""
