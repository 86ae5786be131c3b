"""`sluice batch`: what waits, how far it has come, and an end to it."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from governance.deferred import batches, progress, queue
from governance.deferred.records import Fault, LineState, NewLine, Owner, Submission
from tests.support.command_line import CommandLine
from tests.support.databases import fresh_database

NOW = datetime.now(UTC)


def handed_in(batch_id: str, team: str) -> Submission:
    return Submission(
        id=batch_id,
        owner=Owner(team, "bot"),
        key_id="k1",
        endpoint="/v1/embeddings",
        completion_window="24h",
        expires_at=NOW + timedelta(hours=24),
        asked="{}",
        input_file_id="file-1",
    )


async def fill(folder: Path) -> None:
    """Hand in a batch of four lines, two of which are done, and one that is rejected."""
    async with fresh_database(folder) as database:
        await batches.submit(database, handed_in("batch_1", "red"), NOW)
        await progress.to_validate(database, NOW)
        await progress.add_lines(database, "batch_1", [NewLine(n, f"c{n}", b"{}") for n in range(1, 5)], NOW)
        await progress.begin(database, "batch_1", NOW)
        for line in await queue.claim(database, "w", NOW, 2, lambda _: None):
            await queue.finish(database, line, LineState.DONE if line.n == 1 else LineState.FAILED, b"{}")
        later = NOW + timedelta(seconds=1)
        await batches.submit(database, handed_in("batch_2", "blue"), later)
        await progress.to_validate(database, later)
        await progress.reject(database, "batch_2", [Fault("empty_file", "Nothing \x1bin it.", 1)], later)


@pytest.fixture
def shell(tmp_path: Path) -> CommandLine:
    asyncio.run(fill(tmp_path))
    return CommandLine(tmp_path)


def test_batches_are_listed_with_their_progress(shell: CommandLine) -> None:
    found = shell.json("batch", "list")
    assert [(one["id"], one["status"], one["team"]) for one in found] == [
        ("batch_2", "failed", "blue"),
        ("batch_1", "in_progress", "red"),
    ]
    assert found[1]["request_counts"] == {"total": 4, "completed": 1, "failed": 1}
    assert [one["id"] for one in shell.json("batch", "list", "--team", "red")] == ["batch_1"]
    assert "50 %" in shell.run("batch", "list", COLUMNS="160").stdout


def test_a_batch_is_shown_with_what_is_wrong_with_it(shell: CommandLine) -> None:
    told = shell.run("batch", "show", "batch_2").stdout
    assert "line 1: Nothing" in told
    assert "\x1b" not in told
    assert "50 % of 4 lines: 1 answered, 1 not" in shell.run("batch", "show", "batch_1").stdout


def test_a_batch_is_cancelled_once_and_one_that_has_ended_is_not(shell: CommandLine) -> None:
    assert shell.json("batch", "cancel", "batch_1")["status"] == "cancelling"
    assert shell.json("batch", "cancel", "batch_1")["status"] == "cancelling"
    for verb, batch_id in (("cancel", "batch_2"), ("show", "batch_3")):
        result = shell.run("batch", verb, batch_id)
        assert (result.exit_code, batch_id in result.output) == (1, True)


def test_without_batches_the_way_to_one_is_shown(tmp_path: Path) -> None:
    assert "batches.create" in CommandLine(tmp_path / "new").run("batch", "list").stdout
