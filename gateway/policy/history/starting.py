"""Which policy a gateway starts with: what is written in its file, where that is news; else what governed last."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.policy.history.reading import Standing, in_force
from gateway.policy.problems import PolicyInvalid
from gateway.policy.source import STARTER, parse_policy, policy_text
from governance.audit.chain import GATEWAY
from governance.policy import history
from governance.policy.history import Mode, Written

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from gateway.policy.source import LoadedPolicy
    from governance.database import Database


async def start(database: Database, path: Path | None, env: Mapping[str, str], at: datetime) -> Standing:
    """Return the policy to start with, and put the file's in force where it is news.

    A file is news when it was never taken from this place, or was edited since: so an edit is picked up by a restart,
    and what was applied from elsewhere, or rolled back, outlives one. Processes that start together decide once.

    Args:
        database: Where the history is.
        path: The policy file; None for the starter policy.
        env: Where `${NAME}` is looked up.
        at: An aware instant.

    Raises:
        PolicyInvalid: The file is no policy, and the history has none to go on with.
        StoreUnavailable: The database does not answer.
    """
    try:
        written, policy = await asyncio.to_thread(read_file, path, env, at)
    except PolicyInvalid as invalid:
        last_good = await in_force(database, env, at)
        if last_good is None:
            raise
        return replace(last_good, trouble=f"the policy file is not in force: {invalid.problems[0]}")
    while True:
        seen = await history.newest_id(database)
        if not await _is_news(database, written):
            standing = await in_force(database, env, at)
            if standing is not None:
                return standing
        applied = await history.apply(database, Mode.ACTIVE, written, over=seen, by=GATEWAY, at=at)
        if applied is not None:
            return Standing(applied.id, policy)


async def expected(database: Database, path: Path | None, env: Mapping[str, str], at: datetime) -> Standing:
    """Return the policy in force; without a history, the one that a first start would put in force.

    Raises:
        PolicyInvalid: There is no history, and the file is no policy.
        StoreUnavailable: The database does not answer.
    """
    standing = await in_force(database, env, at)
    return standing or Standing(0, (await asyncio.to_thread(read_file, path, env, at))[1])


def unapplied(path: Path | None, standing: Standing, env: Mapping[str, str], at: datetime) -> str:
    """Say in what way a policy file is not the policy in force, to go on from its name; empty when it is."""
    if path is None:
        return ""
    try:
        _, policy = read_file(path, env, at)
    except PolicyInvalid:
        return "is no policy"
    governs = standing.policy
    return "" if policy.version == governs.version else f"is not in force: {governs.version} ({governs.source}) is"


def read_file(path: Path | None, env: Mapping[str, str], at: datetime) -> tuple[Written, LoadedPolicy]:
    """Read a policy file, or the starter policy when there is none, as it goes into the history.

    Raises:
        PolicyInvalid: It cannot be read, or is no policy.
    """
    text = policy_text(path)
    policy = parse_policy(text, STARTER if path is None else str(path), env, at)
    return Written(policy.version, text, source_of(path)), policy


def source_of(path: Path | None) -> str:
    """Name a file so that it is the same from every folder."""
    return STARTER if path is None else str(path.resolve())


async def _is_news(database: Database, written: Written) -> bool:
    """Say whether a file differs from what was last taken from its place.

    The starter policy replaces that of another release alone, never a policy that somebody wrote.
    """
    newest = await history.newest(database, Mode.ACTIVE)
    if newest is not None and written.source == STARTER != newest.policy.source:
        return False
    last = await history.newest(database, Mode.ACTIVE, source=written.source)
    return last is None or last.policy.version != written.version
