"""Parcels and shipments over real databases: each is packed once, sent by one, and answered once."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest

from governance.database import Database
from governance.deferred import parcels, progress, queue
from governance.deferred.records import Delivered, Line, LineState, Parcel, ShipmentState
from tests.governance.deferred.test_queue import NOON, SECOND, begun
from tests.support.databases import fresh_database

GATHERED = timedelta(seconds=10)


@pytest.fixture
async def database(any_database: None, tmp_path: Path) -> AsyncGenerator[Database]:
    async with fresh_database(tmp_path) as database:
        yield database


def parcel(line: Line, provider: str = "p", model: str = "m") -> Parcel:
    return Parcel(
        request_id=line.request_id,
        provider=provider,
        path="chat/completions",
        model=model,
        upstream_model=model,
        asked_at=NOON,
        body=b"{}",
    )


async def carried(database: Database, lines: int, *, model: str = "m") -> list[Line]:
    """Hand all lines of a new batch over."""
    await begun(database, lines)
    claimed = await queue.claim(database, "w1", NOON, lines, lambda _: None)
    for line in claimed:
        assert await parcels.hand_over(database, line, parcel(line, model=model))
    return list(claimed)


async def pack(database: Database, name: str, *, seconds: int = 10, most: int = 100) -> bool:
    return await parcels.pack(database, name, NOON + seconds * SECOND, gathered=GATHERED, most=most)


async def test_a_line_that_is_carried_takes_no_turn_and_is_not_done(database: Database) -> None:
    await carried(database, 2)
    assert await queue.claim(database, "w2", NOON, 2, lambda _: None) == ()
    assert await progress.end(database, NOON) == 0
    assert await queue.claim(database, "w2", NOON + queue.LEASE, 2, lambda _: None) == ()


async def test_a_carried_line_whose_worker_is_gone_is_taken_up_under_the_same_request(database: Database) -> None:
    (line,) = await carried(database, 1)
    assert await parcels.take_up(database, "w2", NOON, 9) == ()
    await queue.renew(database, "w1", NOON + SECOND)
    assert await parcels.take_up(database, "w2", NOON + queue.LEASE, 9) == ()
    (taken,) = await parcels.take_up(database, "w2", NOON + queue.LEASE + SECOND, 9)
    assert (taken.request_id, taken.parcel) == (line.request_id, parcel(line))
    assert await parcels.take_up(database, "w3", NOON + queue.LEASE + SECOND, 9) == ()
    assert await parcels.hand_over(database, taken, parcel(line, provider="another"))
    assert await parcels.requests(database) == {line.request_id}
    assert await queue.finish(database, taken, LineState.DONE, b"{}")
    assert await parcels.requests(database) == frozenset()
    assert not await parcels.hand_over(database, line, parcel(line))


async def test_what_a_process_leaves_or_dies_with_can_be_taken_up_at_once(database: Database) -> None:
    await carried(database, 2)
    await parcels.leave(database, "w1")
    assert len(await parcels.take_up(database, "w2", NOON, 1)) == 1
    await queue.release(database)
    assert len(await parcels.take_up(database, "w3", NOON, 9)) == 2


async def test_parcels_wait_for_others_and_go_with_those_of_their_model(database: Database) -> None:
    lines = await carried(database, 3)
    assert not await pack(database, "s0", seconds=9)
    assert await pack(database, "s1", seconds=1, most=2)
    assert await pack(database, "s2")
    assert not await pack(database, "s3")
    found = [await parcels.claim(database, NOON + 10 * SECOND) for _ in range(3)]
    assert [shipment and (shipment.id, shipment.size) for shipment in found] == [("s1", 2), ("s2", 1), None]
    assert found[0] is not None
    assert [name for name, _ in await parcels.contents(database, found[0])] == [line.request_id for line in lines[:2]]


async def test_a_shipment_is_one_worker_s_until_it_is_advanced(database: Database) -> None:
    await carried(database, 1)
    await pack(database, "s1")
    at = NOON + 10 * SECOND
    shipment = await parcels.claim(database, at)
    assert shipment is not None
    await parcels.advance(database, shipment, ShipmentState.SENDING, at, at + parcels.CLAIM, None)
    assert await parcels.claim(database, at + parcels.CLAIM - SECOND) is None
    again = await parcels.claim(database, at + parcels.CLAIM)
    assert again is not None
    assert again.state is ShipmentState.SENDING
    await parcels.advance(database, again, ShipmentState.SENT, at, at + 60 * SECOND, "up-1")
    await parcels.look_again(database)
    sent = await parcels.claim(database, at)
    assert sent is not None
    assert (sent.state, sent.upstream_id) == (ShipmentState.SENT, "up-1")
    assert await parcels.lag(database, at + 30 * SECOND) == {"p": 30.0}


async def test_the_first_answer_to_a_request_stays_and_what_has_none_is_given_up(database: Database) -> None:
    first, second = [line.request_id for line in await carried(database, 2)]
    await pack(database, "s1")
    shipment = await parcels.claim(database, NOON + 10 * SECOND)
    assert shipment is not None
    await parcels.deliver(database, shipment, [Delivered(first, 200, b"1"), Delivered("nobody's", 200, b"?")])
    await parcels.deliver(database, shipment, [Delivered(first, 200, b"2")])
    assert await parcels.delivered(database, [first, second]) == (Delivered(first, 200, b"1"),)
    await parcels.give_up(database, shipment, 504, b"{}")
    assert set(await parcels.delivered(database, [first, second])) == {
        Delivered(first, 200, b"1"),
        Delivered(second, 504, b"{}"),
    }


async def test_a_line_that_is_put_back_leaves_no_parcel(database: Database) -> None:
    (line,) = await carried(database, 1)
    await queue.put_back(database, line, line_until=NOON)
    assert await parcels.requests(database) == frozenset()
    (again,) = await queue.claim(database, "w1", NOON, 1, lambda _: None)
    assert (again.generation, again.parcel) == (2, None)
