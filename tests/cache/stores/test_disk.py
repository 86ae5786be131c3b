"""Answers on disk outlive the process, and nothing but an answer is ever served as one."""
# ruff: noqa: ASYNC220, ASYNC240, S603  files and processes of our own, and nothing else runs meanwhile

import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from cache.stores import OVERHEAD, Stored, StoreSize
from cache.stores.disk import DiskAnswers

ROOM = 10_000_000
ANSWER = Stored(b"x" * 500, "m", 1_000, {"output": 3}, 5.0, "why?", tags=("t",))
WRITER = Path(__file__).parents[2] / "support" / "answer_writer.py"


@asynccontextmanager
async def opened(path: Path, room: int = ROOM) -> AsyncGenerator[DiskAnswers]:
    store = DiskAnswers(path, room, lambda: 10.0)
    try:
        yield store
    finally:
        await store.close()


async def test_what_was_kept_is_there_after_a_restart(tmp_path: Path) -> None:
    async with opened(tmp_path / "new" / "a.db") as store:
        await store.put(b"k", ANSWER, 60)
    async with opened(tmp_path / "new" / "a.db") as store:
        assert await store.get(b"k") == ANSWER
        assert await store.purge("t", 5.0) == 1


async def test_nobody_but_its_owner_may_read_the_file(tmp_path: Path) -> None:
    async with opened(tmp_path / "a.db") as store:
        await store.put(b"k", ANSWER, 60)
        assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


async def test_two_processes_may_share_a_file(tmp_path: Path) -> None:
    async with opened(tmp_path / "a.db") as one, opened(tmp_path / "a.db") as other:
        await one.put(b"k", ANSWER, 60)
        assert await other.get(b"k") == ANSWER
        await other.purge("t", 5.0)
        await one.put(b"k", ANSWER, 60)
        assert await one.get(b"k") is None


async def test_what_saves_least_per_byte_leaves_first_and_hits_count(tmp_path: Path) -> None:
    one = OVERHEAD + len(ANSWER.body) + len("why?") + 1
    async with opened(tmp_path / "a.db", 3 * one) as store:
        for key, nanos in ((b"dear", 900), (b"cheap", 100), (b"asked", 100)):
            await store.put(key, replace(ANSWER, cost_nanos=nanos), 60)
        for _ in range(3):
            await store.get(b"asked")
        await store.put(b"new", replace(ANSWER, cost_nanos=500), 60)
        kept = [key for key in (b"dear", b"cheap", b"asked", b"new") if await store.get(key) is not None]
        assert kept == [b"dear", b"asked", b"new"]
        assert await store.size() == StoreSize(3, 3 * one)


async def test_the_file_does_not_grow_beyond_its_room(tmp_path: Path) -> None:
    room = 2_000_000
    async with opened(tmp_path / "a.db", room) as store:
        for number in range(300):
            await store.put(b"%d" % number, replace(ANSWER, body=bytes(30_000)), 60)
        assert (await store.size()).bytes <= room
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 2 * room


@pytest.mark.parametrize("seed", range(6))
async def test_flipped_bytes_are_never_served(tmp_path: Path, seed: int) -> None:
    chance, path = random.Random(seed), tmp_path / "a.db"
    answers = {b"%032d" % n: replace(ANSWER, body=b"%d" % n * 200, created=float(n)) for n in range(100)}
    async with opened(path) as store:
        for key, answer in answers.items():
            await store.put(key, answer, 60)
    content = bytearray(path.read_bytes())
    for _ in range(200):
        content[chance.randrange(100, len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)
    async with opened(path) as store:
        for key, answer in answers.items():
            found = await store.get(key)
            assert found is None or found == answer
        await store.put(b"new", ANSWER, 60)
        await store.put(b"new", ANSWER, 60)  # where the file was beyond repair it has been begun anew
        assert await store.get(b"new") == ANSWER


async def test_a_record_under_another_key_is_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with opened(path) as store:
        await store.put(b"k", ANSWER, 60)
    with sqlite3.connect(path) as file:
        file.execute("UPDATE answer SET key = ?", (b"other",))
    file.close()
    async with opened(path) as store:
        assert await store.get(b"other") is None


@pytest.mark.parametrize("content", [b"this is no database", bytes(10_000)])
async def test_a_file_that_is_no_database_is_begun_anew(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(content)
    async with opened(path) as store:
        assert await store.get(b"k") is None
        await store.put(b"k", ANSWER, 60)
        assert await store.get(b"k") == ANSWER


async def test_a_folder_that_cannot_be_written_is_a_miss_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    async with opened(tmp_path / "file" / "a.db") as store:
        await store.put(b"k", ANSWER, 60)
        assert await store.get(b"k") is None
        assert await store.size() == StoreSize(0, 0)


async def test_a_process_killed_while_it_writes_loses_nothing_that_it_had_told_of(tmp_path: Path) -> None:
    path, chance = tmp_path / "a.db", random.Random(1)
    for _ in range(3):
        with subprocess.Popen([sys.executable, WRITER, path], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            told = [int(writer.stdout.readline()) for _ in range(chance.randrange(20, 200))]
            writer.send_signal(signal.SIGKILL)
            told += [int(line) for line in writer.stdout.read().split(b"\n")[:-1]]
        async with opened(path) as store:
            for number in told:
                found = await store.get(b"%032d" % number)
                assert found is not None
                assert found.body == b"%d" % number * 500
