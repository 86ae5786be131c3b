"""From the history to policies: the one in force, and those of the past."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from gateway.errors import UnknownPolicy
from gateway.policy.problems import PolicyInvalid
from gateway.policy.source import VERSION_DIGITS, LoadedPolicy, parse_policy
from governance.policy import history
from governance.policy.history import Applied, Mode

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from governance.database import Database

_VERSION: Final = re.compile(rf"[0-9a-f]{{4,{VERSION_DIGITS}}}")


@dataclass(frozen=True, slots=True)
class Standing:
    """The policy that governs, or should.

    Attributes:
        id: The decision that put it in force.
        policy: What it says.
        trouble: Why a newer one is not in force, to go on from its name; empty when this is the newest.
    """

    id: int
    policy: LoadedPolicy
    trouble: str = ""


def is_version(text: str) -> bool:
    """Say whether a text may be a version or the beginning of one, and not the name of a file."""
    return _VERSION.fullmatch(text) is not None


def trouble_of(applied: Applied, why: str) -> str:
    """Word why a decision is not obeyed here."""
    return f"policy {applied.policy.version} ({applied.policy.source}) is not in force: {why}"


def facts_of(applied: Applied) -> dict[str, Any]:
    """Say everything of a decision but the text of its policy, as plain data."""
    return {
        "id": applied.id,
        "at": applied.at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "mode": applied.mode.value,
        "version": applied.policy.version,
        "source": applied.policy.source,
        "by": applied.by.name,
        "role": applied.by.role,
        "note": applied.note,
    }


async def load(applied: Applied, env: Mapping[str, str], at: datetime) -> LoadedPolicy:
    """Read a policy of the history, in a thread: a long one takes longer than a request may wait.

    Raises:
        PolicyInvalid: This program cannot read it.
    """
    return await asyncio.to_thread(parse_policy, applied.policy.text, applied.policy.source, env, at)


async def in_force(database: Database, env: Mapping[str, str], at: datetime) -> Standing | None:
    """Return the newest policy that can be obeyed; None when the history has none.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    trouble, applied = "", await history.newest(database, Mode.ACTIVE)
    while applied is not None:
        try:
            return Standing(applied.id, await load(applied, env, at), trouble)
        except PolicyInvalid as invalid:
            trouble = trouble or trouble_of(applied, str(invalid.problems[0]))
        applied = await history.newest(database, Mode.ACTIVE, before=applied.id)
    return None


async def find(database: Database, version: str) -> Applied:
    """Return the newest decision about a version, of which the first digits suffice.

    Raises:
        UnknownPolicy: There is none, or more than one begins so.
        StoreUnavailable: The database does not answer.
    """
    found = await history.of_version(database, version) if is_version(version) else ()
    if len(found) != 1:
        reason = "several begin so" if found else "the history has none"
        raise UnknownPolicy(f"no policy is named by {version!r}: {reason}; `sluice policy history` lists all", version)
    return found[0]


async def known(database: Database, env: Mapping[str, str], at: datetime) -> dict[str, LoadedPolicy]:
    """Return every policy of the history that this program can read, by version.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    policies: dict[str, LoadedPolicy] = {}
    for applied in await history.every_version(database):
        try:
            policies[applied.policy.version] = await load(applied, env, at)
        except PolicyInvalid:
            continue  # it governs nothing, and what it once did is in the ledger
    return policies
