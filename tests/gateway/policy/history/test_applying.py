"""Policies that are put in force, back and in the shade."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.errors import UnknownPolicy
from gateway.policy.history.applying import Decision, History
from gateway.policy.history.reading import find, in_force, known
from gateway.policy.history.shadowing import last_shade
from gateway.policy.source import parse_policy
from governance.audit import log
from governance.audit.chain import Actor
from governance.database import Database
from governance.policy import history
from governance.policy.history import Mode, Written
from tests.support.databases import fresh_database
from tests.support.policy_texts import SMALL

ADA = Actor("Ada", "platform")


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
async def database(tmp_path: Path, any_database: None) -> AsyncGenerator[Database]:
    async with fresh_database(tmp_path) as opened:
        yield opened


async def decide(database: Database, limit: int, *, shadow: bool = False) -> Decision:
    text = SMALL.replace("limit: 5", f"limit: {limit}")
    policy = parse_policy(text, "test", {}, now())
    written = Written(policy.version, text, "test")
    return await History(database, {}, ADA).apply(written, policy, now(), shadow=shadow)


async def test_each_of_several_who_decide_at_once_is_told_what_it_changed(database: Database) -> None:
    decisions = await asyncio.gather(*(decide(database, limit) for limit in range(1, 7)))
    in_order = sorted(decisions, key=lambda decision: decision.applied.id)
    versions = [decision.applied.policy.version for decision in in_order]
    assert [decision.before for decision in in_order] == ["", *versions[:-1]]
    assert all(len(decision.changes) == 1 for decision in in_order[1:])
    assert await log.verify(database) == log.Proof(6, None)


async def test_the_audit_log_names_the_first_hundred_changes(database: Database) -> None:
    await decide(database, 5)
    teams = "".join(f"  - {{name: t{n}}}\n" for n in range(150))
    policy = parse_policy(SMALL + teams, "test", {}, now())
    await History(database, {}, ADA).apply(Written(policy.version, SMALL + teams, "test"), policy, now())
    (entry, *_) = await log.entries(database, 1)
    changes = entry.facts["changes"]
    assert isinstance(changes, list)
    assert (len(changes), changes[0], changes[-1]) == (101, "+ team t0", "… and 50 more")


async def test_a_shadow_lasts_until_it_is_ended_or_another_takes_its_place(database: Database) -> None:
    assert await last_shade(database) is None
    await decide(database, 5)
    await decide(database, 6, shadow=True)
    second = await decide(database, 7, shadow=True)
    shade = await last_shade(database)
    assert shade is not None
    assert (shade.tried, shade.until) == (second.applied, None)
    ended = await History(database, {}, ADA).end_shadow(now())
    shade = await last_shade(database)
    assert ended is not None
    assert shade is not None
    assert (shade.tried, shade.until) == (second.applied, ended.at)
    assert await History(database, {}, ADA).end_shadow(now()) is None
    standing = await in_force(database, {}, now())
    assert standing is not None
    assert standing.policy.rules.budgets()[0].limit.usd == "5.00"


async def test_versions_that_cannot_be_read_are_not_known_and_cannot_come_back(database: Database) -> None:
    good = (await decide(database, 5)).applied
    bad = Written("f" * 12, "version: 2\n", "a later release")
    await history.apply(database, Mode.ACTIVE, bad, over=good.id, by=ADA, at=now())
    assert set(await known(database, {}, now())) == {good.policy.version}
    assert (await History(database, {}, ADA).roll_back(None, now())).applied.policy.version == good.policy.version


@pytest.mark.parametrize("version", ["", "abc", "abcdef", "not hexadecimal", "../policy.yaml"])
async def test_a_version_that_is_none_is_named_and_not_found(database: Database, version: str) -> None:
    await decide(database, 5)
    with pytest.raises(UnknownPolicy):
        await find(database, version)
