"""What only a Redis can do to its clients."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar
from uuid import uuid4

import pytest

from governance.counters import Draw, Exhausted, Level, Memory
from governance.counters.redis import _SCRIPT, CONNECTIONS, RedisCounters
from governance.errors import StoreUnavailable, StoreUnfit
from tests.conformance.test_counters import APP, NOW, RUNNING, TEAM
from tests.support.homes import PATIENT_S, redis_home
from tests.support.servers import RedisServer
from tests.support.servers import redis_server as own_redis
from tests.support.waiting import eventually, until

SOON = NOW + 60
AnswerT = TypeVar("AnswerT")
DRAWS = [Draw(TEAM, 30, 100), Draw(RUNNING, 1, 5)]


@asynccontextmanager
async def client(url: str, namespace: str = "test", **options: float) -> AsyncGenerator[RedisCounters]:
    counters = RedisCounters(url, namespace, **({"quiet_s": 0, "silence_s": PATIENT_S} | options))
    try:
        yield counters
    finally:
        await counters.close()


async def test_an_operation_is_one_round_trip(redis_server: RedisServer) -> None:
    async with redis_home(redis_server) as counters:
        await counters.hold("warm", DRAWS, SOON)
        before = calls(redis_server)
        await counters.hold("h", DRAWS, SOON)
        await counters.settle("h", [12, 0])
        assert calls(redis_server) - before == 2


def calls(server: RedisServer) -> int:
    answer = server.call("INFO", "commandstats").decode()
    return int(answer.split("cmdstat_evalsha:calls=")[1].split(",")[0])


async def test_a_redis_that_lost_our_script_is_given_it_again(redis_server: RedisServer) -> None:
    async with redis_home(redis_server) as counters:
        redis_server.call("SCRIPT", "FLUSH")
        assert await counters.hold("h", DRAWS, SOON) == (Level(0, 30), Level(0, 1))


@pytest.mark.parametrize(
    "rules", [("-@scripting",), ("-evalsha", "-eval"), ("resetkeys", "~other:*")], ids=["group", "commands", "keys"]
)
async def test_a_redis_that_bans_scripts_or_our_keys_is_found_when_it_is_reached(
    redis_server: RedisServer, rules: tuple[str, ...]
) -> None:
    name = f"u{uuid4().hex}"
    redis_server.call("ACL", "SETUSER", name, "on", ">secret", "~*", "+@all", *rules)
    async with client(f"unix://{name}:secret@{redis_server.socket}") as counters:
        with pytest.raises(StoreUnfit):
            await counters.reach()


async def test_a_wrong_password_is_found_when_it_is_reached(redis_server: RedisServer) -> None:
    redis_server.call("ACL", "SETUSER", "w", "on", ">secret", "~*", "+@all")
    async with client(f"unix://w:wrong@{redis_server.socket}") as counters:
        with pytest.raises(StoreUnfit) as refused:
            await counters.reach()
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("url", ["http://localhost", "nonsense"])
def test_an_address_of_another_kind_is_refused(url: str) -> None:
    with pytest.raises(StoreUnavailable, match="REDIS_URL"):
        RedisCounters(url)


async def test_every_key_goes_away_after_its_window(redis_server: RedisServer) -> None:
    async with redis_home(redis_server) as counters:
        now = time.time()
        await counters.hold("h", DRAWS, now + 60)
        await counters.settle("h", [12, 0])
        await counters.seed(APP, 5)
        keys = await counters._client.keys(f"{counters._prefix}c:*")
        left = [await counters._client.ttl(key) for key in keys]
        assert len(keys) == 3
        assert all(0 < seconds <= max(0, TEAM.kept_until - now) + 700 for seconds in left)
        assert not await counters._client.exists(f"{counters._prefix}h:h")


async def test_every_key_is_on_one_node_of_a_cluster() -> None:
    with own_redis("--cluster-enabled", "yes") as server:
        server.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
        await until(lambda: b"cluster_state:ok" in server.call("CLUSTER", "INFO"), 20)
        async with redis_home(server) as counters:
            await counters.hold("h", DRAWS, SOON)
            await counters.hold("late", DRAWS, NOW)
            assert await counters.expire(NOW) == ("late",)
            await counters.book("b", DRAWS, [1, 0])
            assert await counters.settle("h", [12, 0]) == (Level(43, 0), Level(0, 0))
            slots = {server.call("CLUSTER", "KEYSLOT", key.decode()) for key in await counters._client.keys("*")}
            assert len(slots) == 1


async def test_what_was_emptied_takes_no_holds_until_it_is_refilled_and_quiet(redis_server: RedisServer) -> None:
    name = uuid4().hex
    async with client(redis_server.url, name, quiet_s=1) as ours, client(redis_server.url, name) as theirs:
        assert await ours.reach() is Memory.EMPTY
        with pytest.raises(StoreUnavailable, match="another process"):
            await theirs.reach()
        await ours.remember()
        assert await theirs.reach() is Memory.ANOTHER
        assert await theirs.reach() is Memory.SAME
        with pytest.raises(StoreUnavailable, match="FORMING"):
            await theirs.hold("h", DRAWS, SOON)
        await theirs.restore("open", DRAWS, SOON)
        await eventually(ours.ready)
        assert await ours.hold("h", DRAWS, SOON) == (Level(0, 60), Level(0, 2))
        await ours._client.delete(f"{ours._prefix}memory")
        for counters in (ours, theirs):
            with pytest.raises(StoreUnavailable, match="FORGOTTEN"):
                await counters.settle("h", [1, 0])


@pytest.mark.parametrize("noticed", ["by the call", "when it is reached"])
async def test_a_redis_that_starts_again_from_an_old_snapshot_is_taken_for_empty(noticed: str) -> None:
    with own_redis() as server:
        async with client(server.url) as counters:
            await counters.reach()
            await counters.remember()
            await counters.hold("old", DRAWS, SOON)
            server.call("SAVE")
            await counters.settle("old", [30, 0])
            server.kill()
            server.start()
            assert b"generation" in server.call("HGETALL", f"{counters._prefix}memory")
            if noticed == "by the call":
                with pytest.raises(StoreUnavailable, match="FORGOTTEN"):
                    await past_the_break(lambda: counters.read([TEAM]))
            else:
                server.call("SCRIPT", "LOAD", _SCRIPT)
            assert await past_the_break(counters.reach) is Memory.EMPTY
            assert server.call("KEYS", f"{counters._prefix}[cbhl]*") == b"*0\r\n"
            await counters.remember()
            assert await counters.read([TEAM]) == (Level(0, 0),)


async def past_the_break(call: Callable[[], Awaitable[AnswerT]]) -> AnswerT:
    """Call again while connections to a server that is gone break."""
    while True:
        try:
            return await call()
        except StoreUnavailable as error:
            if "ConnectionError" not in error.reason:
                raise


async def test_a_paused_redis_fails_within_its_time_and_is_used_again() -> None:
    with own_redis() as server:
        async with client(server.url, silence_s=0.05) as counters:
            await counters.reach()
            await counters.remember()
            await counters.ready()
            server.pause()
            began = time.monotonic()
            with pytest.raises(StoreUnavailable, match="50 ms"):
                await counters.hold("h", DRAWS, SOON)
            took = time.monotonic() - began
            server.resume()
            await eventually(lambda: answers(counters))
            assert len(await counters._client.client_list()) <= 2 * CONNECTIONS
    assert took < 0.5


async def answers(counters: RedisCounters) -> bool:
    try:
        return bool(await counters.read([TEAM]))
    except StoreUnavailable:
        return False


CLIENT = """
import anyio, sys
from tests.governance.counters.test_redis import many
print(anyio.run(many, sys.argv[1], sys.argv[2]))
"""


async def many(url: str, name: str) -> int:
    """Hold as often as the cap lets one process, and settle each hold in full."""
    admitted = 0

    async def one(number: int) -> None:
        nonlocal admitted
        taken = await counters.hold(f"{name}.{number}", [Draw(TEAM, 100, 7_000), Draw(RUNNING, 1, 1_000)], SOON)
        if not isinstance(taken, Exhausted):
            admitted += 1
            assert all(level.settled + level.held <= 7_000 for level in taken)
            await counters.settle(f"{name}.{number}", [100, 0])

    async with client(url) as counters:
        await counters.reach()
        await asyncio.gather(*[one(number) for number in range(70)])
    return admitted


async def test_clients_in_several_processes_never_pass_an_exact_cap() -> None:
    with own_redis() as server:
        async with client(server.url) as counters:
            await counters.reach()
            await counters.remember()
            running = [
                await asyncio.create_subprocess_exec(
                    sys.executable, "-c", CLIENT, server.url, name, stdout=subprocess.PIPE,
                    env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
                )
                for name in ("a", "b", "c")
            ]  # fmt: skip
            admitted = [int((await process.communicate())[0]) for process in running]
            assert sum(admitted) == 70
            assert await counters.read([TEAM, RUNNING]) == (Level(7_000, 0), Level(0, 0))
