"""A Redis that is away, slow or strange is a miss, and nobody waits for it."""

from collections.abc import Generator
from time import monotonic
from uuid import uuid4

import pytest

from cache.redis_server import BUDGET_S
from cache.stores import Stored, StoreSize
from cache.stores.redis import RedisAnswers
from tests.support.servers import RedisServer, redis_server

ANSWER = Stored(b"x", "m", 1_000, {"output": 3}, 5.0, "why?", tags=("t",))
PATIENT_S = 10.0


class Ticks:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def own_server() -> Generator[RedisServer]:
    with redis_server() as server:
        yield server


def home(
    server: RedisServer, *, budget_s: float = PATIENT_S, ticks: Ticks | None = None, room: int = 10**6
) -> RedisAnswers:
    return RedisAnswers(server.url, room, lambda: 0.0, uuid4().hex, budget_s=budget_s, ticks=ticks or Ticks())


async def test_a_redis_that_is_away_is_a_miss_until_it_is_back(own_server: RedisServer) -> None:
    ticks = Ticks()
    store = home(own_server, ticks=ticks)
    await store.put(b"k", ANSWER, 60)
    own_server.stop()
    assert await store.get(b"k") is None
    await store.put(b"k", ANSWER, 60)
    assert await store.delete(b"k") is False
    assert await store.purge("t", 9.0) == 0
    assert not store.sure
    assert await store.size() == StoreSize(0, 0)
    assert await store.claim(b"k", 10) is True
    await store.release(b"k")
    own_server.start()
    await store.put(b"k", ANSWER, 60)
    assert await store.get(b"k") is None  # it is left alone for a while
    ticks.now += 1.0
    await store.put(b"k", ANSWER, 60)
    assert await store.get(b"k") == ANSWER
    await store.close()


async def test_a_redis_that_does_not_answer_is_waited_for_once_and_no_longer_than_the_budget(
    own_server: RedisServer,
) -> None:
    ticks = Ticks()
    store = home(own_server, budget_s=PATIENT_S, ticks=ticks)
    await store.put(b"k", ANSWER, 60)
    store._shared._budget_s = BUDGET_S
    own_server.pause()
    began = monotonic()
    for _ in range(100):
        assert await store.get(b"k") is None
    assert monotonic() - began < 50 * BUDGET_S
    own_server.resume()
    store._shared._budget_s = PATIENT_S
    ticks.now += 1.0
    assert await store.get(b"k") == ANSWER
    await store.close()


async def test_bytes_that_are_no_record_are_no_answer(own_server: RedisServer) -> None:
    store = home(own_server)
    await store.put(b"k", ANSWER, 60)
    name = (store._prefix + b"a:k").decode()
    own_server.call("HSET", name, "v", "nonsense")
    assert await store.get(b"k") is None
    own_server.call("DEL", name)
    own_server.call("SET", name, "no hash at all")
    assert await store.get(b"k") is None
    await store.close()


async def test_all_keys_of_an_installation_are_on_one_node_of_a_cluster_and_go_by_themselves(
    own_server: RedisServer,
) -> None:
    store = home(own_server)
    await store.put(b"k", ANSWER, 60)
    keys = await store._shared.client.keys("*")
    assert len({key[key.index(b"{") : key.index(b"}")] for key in keys}) == 1
    lasting = [key for key in keys if await store._shared.client.ttl(key) < 0]
    assert {key.rsplit(b":", 1)[1] for key in lasting} == {b"all", b"bytes"}
    await store.close()


async def test_expired_answers_give_their_room_back(own_server: RedisServer) -> None:
    store = home(own_server)
    await store.put(b"soon", ANSWER, 0.02)
    await store.put(b"late", ANSWER, 60)
    while (await store.size()).entries > 1:
        pass
    one = (await store.size()).bytes
    await store.put(b"late", ANSWER, 60)
    assert (await store.size()).bytes == one
    await store.close()


async def test_of_two_processes_one_leads_until_it_lets_go(own_server: RedisServer) -> None:
    one, other = home(own_server), home(own_server)
    other._prefix = one._prefix
    assert await one.claim(b"k", 10) is True
    assert await other.claim(b"k", 10) is False
    await other.release(b"k")
    assert await other.claim(b"k", 10) is False
    await one.release(b"k")
    assert await other.claim(b"k", 0.01) is True
    while not await one.claim(b"k", 10):
        pass
    await one.close()
    await other.close()
