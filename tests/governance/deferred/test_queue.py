"""The queue over real databases: a line is one worker's at a time, and has one result."""

from collections.abc import AsyncGenerator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from governance.database import Database
from governance.deferred import batches, files, progress, queue
from governance.deferred.records import BatchStatus, Fault, Line, LineState, NewLine, Owner, Submission
from governance.errors import BatchEnded, UnknownBatch, UnknownFile
from tests.support.databases import fresh_database

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
BOT, OTHER = Owner("red", "bot"), Owner("red", "other")
SECOND = timedelta(seconds=1)


def handed_in(batch_id: str = "batch_1", owner: Owner = BOT, **changes: object) -> Submission:
    given = {
        "id": batch_id, "owner": owner, "key_id": "k1", "endpoint": "/v1/embeddings", "completion_window": "24h",
        "expires_at": NOON + timedelta(hours=24), "asked": "{}", "input_file_id": "file-1",
    }  # fmt: skip
    return Submission(**given | changes)  # pyright: ignore[reportArgumentType]


@pytest.fixture
async def database(any_database: None, tmp_path: Path) -> AsyncGenerator[Database]:
    async with fresh_database(tmp_path) as database:
        yield database


async def begun(database: Database, lines: int, batch_id: str = "batch_1", owner: Owner = BOT) -> None:
    await batches.submit(database, handed_in(batch_id, owner), NOON)
    while (found := await progress.to_validate(database, NOON)) is not None:
        stored = [NewLine(n, f"c{n}", b"{}") for n in range(1, lines + 1)]
        assert await progress.add_lines(database, found.id, stored, NOON)
        await progress.begin(database, found.id, NOON)


async def claim(
    database: Database, most: int = 100, *, worker: str = "w1", at: datetime = NOON
) -> list[tuple[str, int]]:
    lines = await queue.claim(database, worker, at, most, lambda _: None)
    return [(line.batch_id, line.n) for line in lines]


def worded(batch_id: str, custom_id: str, n: int) -> bytes:
    return f'"{batch_id} {custom_id} {n}"'.encode()


async def text(database: Database, file_id: str | None, owner: Owner = BOT) -> str:
    assert file_id is not None
    return b"".join([piece async for piece in await files.read(database, file_id, owner)]).decode()


async def test_a_batch_goes_from_validation_to_its_output_file(database: Database) -> None:
    await begun(database, 3)
    assert (await batches.find(database, "batch_1")).status is BatchStatus.IN_PROGRESS
    for line in await queue.claim(database, "w1", NOON, 9, lambda _: None):
        state = LineState.FAILED if line.n == 2 else LineState.DONE
        assert await queue.finish(database, line, state, f'{{"n": {line.n}}}'.encode())
    assert await progress.end(database, NOON + SECOND) == 1

    found = await batches.find(database, "batch_1", BOT)
    assert (found.status, found.completed_at) == (BatchStatus.COMPLETED, NOON + SECOND)
    assert (found.counts.total, found.counts.completed, found.counts.failed) == (3, 2, 1)
    assert await text(database, found.output_file_id) == '{"n": 1}\n{"n": 3}\n'
    assert await text(database, found.error_file_id) == '{"n": 2}\n'
    stored = await files.find(database, found.output_file_id or "", BOT)
    assert (stored.size, stored.purpose) == (18, "batch_output")
    assert await progress.end(database, NOON) == 0


async def test_a_line_is_claimed_once_and_no_more_run_than_may(database: Database) -> None:
    await begun(database, 5)
    assert await claim(database, 2) == [("batch_1", 1), ("batch_1", 2)]
    assert await claim(database, 3, worker="w2") == [("batch_1", 3)]
    assert await claim(database, 3, worker="w3") == []


async def test_batches_take_turns(database: Database) -> None:
    await begun(database, 100)
    assert await claim(database, 2) == [("batch_1", 1), ("batch_1", 2)]
    await begun(database, 2, "batch_2", OTHER)
    assert await claim(database, 3, at=NOON + SECOND) == [("batch_2", 1)]
    assert await claim(database, 4, at=NOON + 2 * SECOND) == [("batch_1", 3)]
    assert await claim(database, 6, at=NOON + 3 * SECOND) == [("batch_2", 2), ("batch_1", 4)]


async def test_a_line_whose_worker_is_silent_is_another_worker_s_and_keeps_one_result(database: Database) -> None:
    await begun(database, 1)
    (first,) = await queue.claim(database, "w1", NOON, 1, lambda _: None)
    assert await claim(database, 1, worker="w2", at=NOON + queue.LEASE - SECOND) == []
    (second,) = await queue.claim(database, "w2", NOON + queue.LEASE, 1, lambda _: None)
    assert (first.request_id, second.request_id) == ("batch_1-1-1", "batch_1-1-2")
    assert not await queue.finish(database, first, LineState.DONE, b"1")
    await queue.put_back(database, first, line_until=NOON)
    assert await queue.finish(database, second, LineState.DONE, b"2")
    assert not await queue.finish(database, second, LineState.DONE, b"3")
    await progress.end(database, NOON)
    assert await text(database, "file-1-output") == "2\n"


async def test_a_worker_that_lives_keeps_its_lines(database: Database) -> None:
    await begun(database, 1)
    await claim(database, 1)
    await queue.renew(database, "w1", NOON + queue.LEASE - SECOND)
    assert await claim(database, 1, worker="w2", at=NOON + queue.LEASE + SECOND) == []


async def test_a_sole_process_takes_the_lines_of_the_dead_at_once(database: Database) -> None:
    await begun(database, 1)
    await claim(database, 1)
    assert await queue.release(database) == 1
    assert await claim(database, 1, worker="w2") == [("batch_1", 1)]


async def test_a_line_that_is_put_back_waits_and_so_may_its_batch(database: Database) -> None:
    await begun(database, 2)
    first, second = await queue.claim(database, "w1", NOON, 2, lambda _: None)
    await queue.put_back(database, first, line_until=NOON + SECOND, failed=True)
    assert await claim(database) == []
    (again,) = await queue.claim(database, "w1", NOON + SECOND, 2, lambda _: None)
    assert (again.failures, again.generation) == (1, 2)
    await queue.put_back(database, second, line_until=NOON, batch_until=NOON + 60 * SECOND)
    assert await claim(database, at=NOON + 59 * SECOND) == []
    assert await claim(database, at=NOON + 60 * SECOND) == [("batch_1", 1), ("batch_1", 2)]


async def test_nothing_is_claimed_for_an_owner_whose_window_is_closed(database: Database) -> None:
    await begun(database, 1)
    opens = NOON + 10 * SECOND

    def closed(owner: Owner) -> datetime | None:
        return opens if owner == BOT else None

    assert await queue.claim(database, "w1", NOON, 9, closed) == ()
    assert not await queue.due(database, NOON)
    assert await claim(database, at=opens) == [("batch_1", 1)]


async def test_a_cancelled_batch_keeps_what_was_done_and_says_what_was_not(database: Database) -> None:
    await begun(database, 3)
    (running,) = await queue.claim(database, "w1", NOON, 1, lambda _: None)
    assert (await batches.cancel(database, "batch_1", BOT, NOON)).status is BatchStatus.CANCELLING
    await progress.stop_lines(database, NOON, worded, worded)
    assert await progress.end(database, NOON) == 0
    assert await claim(database) == []
    await queue.finish(database, running, LineState.DONE, b"done")
    await progress.end(database, NOON)
    found = await batches.cancel(database, "batch_1", BOT, NOON)
    assert found.status is BatchStatus.CANCELLED
    assert await text(database, found.output_file_id) == "done\n"
    assert await text(database, found.error_file_id) == '"batch_1 c2 2"\n"batch_1 c3 3"\n'


async def test_a_batch_whose_time_is_over_expires_with_what_was_done(database: Database) -> None:
    await begun(database, 2)
    (line,) = await queue.claim(database, "w1", NOON, 1, lambda _: None)
    await queue.finish(database, line, LineState.DONE, b"done")
    late = NOON + timedelta(hours=24)
    assert await claim(database, at=late) == []
    await progress.stop_lines(database, late, worded, worded)
    await progress.end(database, late)
    found = await batches.find(database, "batch_1")
    assert (found.status, found.counts.completed, found.counts.failed) == (BatchStatus.EXPIRED, 1, 1)
    with pytest.raises(BatchEnded, match="expired"):
        await batches.cancel(database, "batch_1", BOT, late)


async def test_the_input_of_a_batch_is_looked_at_by_one_and_stored_once(database: Database) -> None:
    await batches.submit(database, handed_in(), NOON)
    found = await progress.to_validate(database, NOON)
    assert found is not None
    assert await progress.to_validate(database, NOON) is None
    lines = [NewLine(1, "c1", b"{}"), NewLine(2, "c2", b"{}")]
    await progress.add_lines(database, found.id, lines[:1], NOON)
    again = await progress.to_validate(database, NOON + progress.LOOKING)
    assert again is not None
    await progress.add_lines(database, found.id, lines, NOON)
    assert (await batches.find(database, found.id)).counts.total == 2


async def test_a_batch_that_is_rejected_has_no_lines_and_says_why(database: Database) -> None:
    await batches.submit(database, handed_in(), NOON)
    await progress.to_validate(database, NOON)
    await progress.add_lines(database, "batch_1", [NewLine(1, "c1", b"{}")], NOON)
    fault = Fault("invalid_json_line", "no JSON", 2)
    await progress.reject(database, "batch_1", [fault], NOON)
    found = await batches.find(database, "batch_1")
    assert (found.status, found.faults, found.counts.total) == (BatchStatus.FAILED, (fault,), 0)
    assert not await progress.add_lines(database, "batch_1", [NewLine(1, "c1", b"{}")], NOON)


async def test_nobody_sees_the_files_and_batches_of_another_app(database: Database) -> None:
    await files.store(database, id="file-1", owner=BOT, purpose="batch", filename="a", pieces=[b"ab", b"c"], at=NOON)
    await begun(database, 1)
    assert await files.listed(database, OTHER, 10) == ()
    assert await batches.listed(database, 10, owner=OTHER) == ()
    with pytest.raises(UnknownFile):
        await files.find(database, "file-1", OTHER)
    with pytest.raises(UnknownFile):
        await files.remove(database, "file-1", OTHER)
    with pytest.raises(UnknownBatch):
        await batches.find(database, "batch_1", OTHER)
    with pytest.raises(UnknownBatch):
        await batches.cancel(database, "batch_1", OTHER, NOON)


async def test_a_file_comes_back_as_it_was_until_it_is_removed(database: Database) -> None:
    pieces = [bytes([n]) * 1000 for n in range(20)]
    stored = await files.store(
        database, id="file-1", owner=BOT, purpose="batch", filename="a.jsonl", pieces=pieces, at=NOON
    )
    assert stored == await files.find(database, "file-1", BOT)
    assert stored.size == 20_000
    read = [piece async for piece in await files.read(database, "file-1", BOT)]
    assert read == pieces
    await files.remove(database, "file-1", BOT)
    with pytest.raises(UnknownFile):
        await files.read(database, "file-1", BOT)


async def test_files_and_batches_are_listed_page_by_page(database: Database) -> None:
    for n in range(5):
        at = NOON + n * SECOND
        await files.store(database, id=f"file-{n}", owner=BOT, purpose="batch", filename="a", pieces=[], at=at)
        await batches.submit(database, handed_in(f"batch_{n}"), at)
    assert [file.id for file in await files.listed(database, BOT, 2, after="file-3")] == ["file-2", "file-1"]
    oldest = await files.listed(database, BOT, 2, after="file-3", oldest_first=True)
    assert [file.id for file in oldest] == ["file-4"]
    found = await batches.listed(database, 2, owner=BOT, after="batch_3")
    assert [batch.id for batch in found] == ["batch_2", "batch_1"]


async def test_an_upload_that_was_never_ended_is_swept_away_after_a_day(database: Database) -> None:
    def cut() -> Iterator[bytes]:
        yield b"ab"
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await files.store(database, id="file-1", owner=BOT, purpose="batch", filename="a", pieces=cut(), at=NOON)
    assert await files.listed(database, BOT, 10) == ()
    assert await files.sweep(database, NOON + timedelta(hours=23)) == 0
    assert await files.sweep(database, NOON + timedelta(hours=25)) == 1


def test_a_line_s_runs_are_requests_of_their_own() -> None:
    line = Line(
        batch_id="batch_1", n=7, custom_id="c", owner=BOT, key_id="k", endpoint="/v1/embeddings", asked="{}",
        body=b"{}", generation=3, failures=0, expires_at=NOON,
    )  # fmt: skip
    assert line.request_id == "batch_1-7-3"
