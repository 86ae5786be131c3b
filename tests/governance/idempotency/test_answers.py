"""Turns under an idempotency key, on a real SQLite and a real PostgreSQL."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from governance.database import Database
from governance.errors import IdempotencyKeyReused
from governance.idempotency.answers import KEPT, Answer, Claim, IdempotentAnswers, Running
from tests.support.databases import fresh_database
from tests.support.requests import NOON

pytestmark = pytest.mark.usefixtures("any_database")

LEASE = NOON + timedelta(minutes=11)
FIRST = Claim("k1", b"name", b"asks", "req_1")
RETRY = replace(FIRST, request_id="req_2")
HELLO = Answer(b'{"choices":[]}', "small")


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    async with fresh_database(tmp_path) as opened:
        yield opened


@pytest.fixture
def answers(database: Database) -> IdempotentAnswers:
    return IdempotentAnswers(database)


async def test_the_first_request_takes_its_turn_and_the_second_is_told_until_when(answers: IdempotentAnswers) -> None:
    assert await answers.claim(FIRST, NOON, LEASE) is None
    assert await answers.claim(RETRY, NOON, LEASE + timedelta(hours=1)) == Running(LEASE)


async def test_an_answer_is_given_again_for_a_day_and_no_longer(answers: IdempotentAnswers) -> None:
    await answers.claim(FIRST, NOON, LEASE)
    await answers.keep(FIRST, HELLO, NOON)
    last = NOON + KEPT - timedelta(microseconds=1)
    assert await answers.claim(RETRY, last, LEASE) == HELLO
    assert await answers.claim(RETRY, NOON + KEPT, NOON + KEPT + timedelta(minutes=1)) is None


async def test_a_key_that_was_released_is_free(answers: IdempotentAnswers) -> None:
    await answers.claim(FIRST, NOON, LEASE)
    await answers.release(FIRST)
    assert await answers.claim(RETRY, NOON, LEASE) is None


async def test_a_key_whose_process_died_is_free_when_its_lease_ends(answers: IdempotentAnswers) -> None:
    await answers.claim(FIRST, NOON, LEASE)
    assert await answers.claim(RETRY, LEASE, LEASE + timedelta(minutes=1)) is None


async def test_a_request_that_lost_its_turn_neither_keeps_nor_releases(answers: IdempotentAnswers) -> None:
    await answers.claim(FIRST, NOON, LEASE)
    await answers.claim(RETRY, LEASE, LEASE + timedelta(minutes=1))
    await answers.keep(FIRST, HELLO, LEASE)
    await answers.release(FIRST)
    assert isinstance(await answers.claim(replace(FIRST, request_id="req_3"), LEASE, LEASE), Running)


async def test_a_kept_answer_cannot_be_released_or_replaced(answers: IdempotentAnswers) -> None:
    await answers.claim(FIRST, NOON, LEASE)
    await answers.keep(FIRST, HELLO, NOON)
    await answers.keep(FIRST, Answer(b"{}", "other"), NOON)
    await answers.release(FIRST)
    assert await answers.claim(RETRY, NOON, LEASE) == HELLO


@pytest.mark.parametrize("kept", [True, False])
async def test_a_key_stands_for_one_request(answers: IdempotentAnswers, kept: bool) -> None:
    await answers.claim(FIRST, NOON, LEASE)
    if kept:
        await answers.keep(FIRST, HELLO, NOON)
    with pytest.raises(IdempotencyKeyReused):
        await answers.claim(replace(RETRY, fingerprint=b"asks something else"), NOON, LEASE)


async def test_the_keys_of_one_caller_are_nothing_to_another(answers: IdempotentAnswers) -> None:
    await answers.claim(FIRST, NOON, LEASE)
    await answers.keep(FIRST, HELLO, NOON)
    assert await answers.claim(replace(RETRY, key_id="k2"), NOON, LEASE) is None
    assert await answers.claim(replace(RETRY, name=b"another name"), NOON, LEASE) is None


async def test_of_many_at_once_one_takes_the_turn(answers: IdempotentAnswers) -> None:
    claims = [replace(FIRST, request_id=f"req_{number}") for number in range(12)]
    found = await asyncio.gather(*(answers.claim(claim, NOON, LEASE) for claim in claims))
    assert found.count(None) == 1
    assert found.count(Running(LEASE)) == 11


async def test_a_sweep_forgets_what_is_over_and_nothing_else(answers: IdempotentAnswers) -> None:
    await answers.claim(FIRST, NOON, LEASE)
    await answers.keep(FIRST, HELLO, NOON)
    await answers.claim(replace(FIRST, name=b"died"), NOON, LEASE)
    assert await answers.sweep(NOON) == 0
    assert await answers.sweep(LEASE) == 1
    assert await answers.claim(RETRY, LEASE, LEASE) == HELLO
    assert await answers.sweep(NOON + KEPT) == 1


def test_the_text_of_an_answer_is_in_no_repr() -> None:
    assert "choices" not in repr(HELLO)
