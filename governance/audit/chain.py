"""Entries of the audit log, each sealed with a hash over itself and the hash of the one before.

Whoever changes, removes, inserts or reorders entries must compute every later hash anew; the newest one is kept apart
(`governance.audit.tables.AuditHeadRow`), so that entries missing at the end are noticed too. The chain shows tampering
by those who can write some of the tables. It cannot stop who may write all of them: keep a copy of the newest hash
elsewhere where that matters.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

Fact = str | int | bool | None | list[str]
"""What a detail of an act may be: plain data, never a secret, never text of a prompt."""

GENESIS: Final = "0" * 64
"""What the first entry has in the place of a previous hash."""


class Act(StrEnum):
    """What can be done to an installation."""

    KEY_CREATED = "key.created"
    KEY_ROTATED = "key.rotated"
    KEY_REVOKED = "key.revoked"
    PERSON_CREATED = "person.created"
    PERSON_REVOKED = "person.revoked"
    SIGNED_IN = "person.signed_in"
    POLICY_APPLIED = "policy.applied"
    POLICY_SHADOWED = "policy.shadowed"
    POLICY_UNSHADOWED = "policy.unshadowed"
    ALERT_SENT = "alert.sent"
    BATCH_CANCELLED = "batch.cancelled"
    CACHE_PURGED = "cache.purged"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: a person by name and role, a user of the command line (`cli:<name>`), or the gateway itself."""

    name: str
    role: str


GATEWAY: Final = Actor("gateway", "system")


@dataclass(frozen=True, slots=True)
class Entry:
    """One act.

    Attributes:
        n: its place in the chain, from 1 without gaps.
        at: when, in UTC.
        actor: who did it.
        act: what was done; text, because a newer program may have written what this one does not know.
        subject: to what: a key's public id, a person's id, a policy version, an alert's id, a batch's id.
        team: the team it concerns, or empty.
        facts: what else there is to know.
        previous: the hash of the entry before.
        hash: SHA-256 over all of the above, in hexadecimal.
    """

    n: int
    at: datetime
    actor: Actor
    act: str
    subject: str
    team: str
    facts: Mapping[str, Fact]
    previous: str
    hash: str


def facts_text(facts: Mapping[str, Fact]) -> str:
    """Write facts in the one way that is hashed and stored: sorted keys, no spaces, ASCII."""
    return json.dumps(facts, sort_keys=True, separators=(",", ":"))


def digest(n: int, at: int, actor: Actor, act: str, subject: str, team: str, facts: str, previous: str) -> str:
    """Hash an entry: SHA-256 over a JSON array of its parts, which no two different entries share.

    Args:
        n: Its place in the chain.
        at: Microseconds since the epoch.
        actor: Who did it.
        act: What was done.
        subject: To what.
        team: The team it concerns.
        facts: As `facts_text` writes them.
        previous: The hash of the entry before.
    """
    parts = [n, at, actor.name, actor.role, act, subject, team, facts, previous]
    return hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()
