"""Which policy a gateway starts with."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.policy.history.applying import History
from gateway.policy.history.reading import Standing
from gateway.policy.history.starting import expected, read_file, start, unapplied
from gateway.policy.problems import PolicyInvalid
from gateway.policy.source import STARTER
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


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(SMALL)
    return path


def edit(path: Path, limit: int) -> Path:
    path.write_text(SMALL.replace("limit: 5", f"limit: {limit}"))
    return path


def break_off(path: Path) -> None:
    path.write_text("version: 1\n")


def lose(path: Path) -> None:
    path.unlink()


async def begin(database: Database, path: Path | None) -> Standing:
    return await start(database, path, {}, now())


async def decided(database: Database) -> int:
    return len(await history.listed(database, 100))


def limit(standing: Standing) -> str:
    return standing.policy.rules.budgets()[0].limit.usd


async def apply(database: Database, path: Path) -> None:
    written, policy = read_file(path, {}, now())
    await History(database, {}, ADA).apply(written, policy, now())


async def test_a_first_start_puts_the_file_in_force_and_a_second_one_changes_nothing(
    database: Database, file: Path
) -> None:
    first = await begin(database, file)
    again = await begin(database, file)
    assert (first.id, again.id, again.policy.version) == (first.id, first.id, first.policy.version)
    assert await decided(database) == 1


async def test_gateways_that_start_together_decide_once(database: Database, file: Path) -> None:
    standings = await asyncio.gather(*(begin(database, file) for _ in range(5)))
    assert len({standing.id for standing in standings}) == 1
    assert await decided(database) == 1


async def test_an_edited_file_is_picked_up_by_the_next_start(database: Database, file: Path) -> None:
    await begin(database, file)
    assert limit(await begin(database, edit(file, 7))) == "7.00"
    assert limit(await begin(database, edit(file, 5))) == "5.00"
    assert await decided(database) == 3


async def test_what_was_applied_from_elsewhere_outlives_a_restart(
    database: Database, file: Path, tmp_path: Path
) -> None:
    await begin(database, file)
    await apply(database, edit(tmp_path / "other.yaml", 9))
    assert limit(await begin(database, file)) == "9.00"
    assert limit(await begin(database, edit(file, 8))) == "8.00"


async def test_a_rollback_outlives_a_restart(database: Database, file: Path) -> None:
    await begin(database, file)
    await apply(database, edit(file, 7))
    await History(database, {}, ADA).roll_back(None, now())
    assert limit(await begin(database, file)) == "5.00"
    assert limit(await begin(database, edit(file, 8))) == "8.00"


async def test_a_broken_file_leaves_the_last_good_policy_in_force_and_is_named(database: Database, file: Path) -> None:
    await begin(database, file)
    break_off(file)
    standing = await begin(database, file)
    assert limit(standing) == "5.00"
    assert standing.trouble == f'the policy file is not in force: {file}:1:1: needs "providers"'
    lose(file)
    assert "cannot be read: No such file" in (await begin(database, file)).trouble
    assert await decided(database) == 1


async def test_a_broken_file_without_a_history_starts_nothing(database: Database, file: Path) -> None:
    break_off(file)
    with pytest.raises(PolicyInvalid):
        await begin(database, file)
    with pytest.raises(PolicyInvalid):
        await expected(database, file, {}, now())
    assert await decided(database) == 0


async def test_a_text_of_the_history_that_cannot_be_read_is_passed_over(database: Database, file: Path) -> None:
    await begin(database, file)
    later = Written("f" * 12, "version: 2\n", "a later release")
    await history.apply(database, Mode.ACTIVE, later, over=await history.newest_id(database), by=ADA, at=now())
    standing = await begin(database, file)
    assert limit(standing) == "5.00"
    assert standing.trouble.startswith(
        "policy ffffffffffff (a later release) is not in force: a later release:1:1: needs"
    )


async def test_the_starter_policy_never_replaces_one_that_somebody_wrote(database: Database, file: Path) -> None:
    assert (await begin(database, None)).policy.source == STARTER
    await apply(database, file)
    assert limit(await begin(database, None)) == "5.00"


async def test_a_file_that_is_gone_leaves_what_was_written_in_force(database: Database, file: Path) -> None:
    await begin(database, file)
    standing = await begin(database, None)
    assert (limit(standing), standing.policy.source) == ("5.00", str(file))
    assert await decided(database) == 1


async def test_the_starter_policy_of_another_release_replaces_the_starter_policy(database: Database) -> None:
    older = Written("a" * 12, SMALL, STARTER)
    await history.apply(database, Mode.ACTIVE, older, over=0, by=ADA, at=now())
    assert (await begin(database, None)).policy.version != older.version
    assert await decided(database) == 2


async def test_before_a_first_start_the_file_is_what_is_expected(database: Database, file: Path) -> None:
    standing = await expected(database, file, {}, now())
    assert (standing.id, limit(standing)) == (0, "5.00")
    assert await decided(database) == 0


async def test_a_file_that_does_not_govern_says_in_what_way(database: Database, file: Path) -> None:
    standing = await begin(database, file)
    assert unapplied(file, standing, {}, now()) == ""
    assert unapplied(edit(file, 7), standing, {}, now()).startswith(f"is not in force: {standing.policy.version} (")
    break_off(file)
    assert unapplied(file, standing, {}, now()) == "is no policy"
