"""Two hundred clients at once on a cap of one dollar: over every home of the counters, and over several processes."""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path

import httpx
import pytest
from sqlalchemy import text

from tests.support.books import books, ended
from tests.support.running_gateway import POLICY, policy
from tests.support.scripted_upstream import Script
from tests.support.servers import RedisServer, redis_server
from tests.support.waiting import eventually
from tests.support.worker_processes import Workers, worker_processes

CLIENTS = 200
CAP = 1
DEAR = {"price": {"input": 10, "output": 1_000}}
ASKED = {"model": "dear", "max_tokens": 16}
ANSWER = ["word "] * 10
HELD_FOR_ONE = 0.02
"""An answer costs 0.01012 dollars, and not quite this is held for it."""

PATIENT_MS = "2000"
"""These tests are about money, on a machine that may be busy; not about how fast a store answers."""

HOMES = ("memory", "Redis", "PostgreSQL", "four processes on Redis")


@dataclass(frozen=True)
class Capped:
    """A gateway with a team whose month is capped; `leases` counts the holds that its home knows."""

    key: str
    gateway: Workers
    leases: Callable[[], Awaitable[int]]

    async def ask_until_refused(self, client: int) -> list[httpx.Response]:
        """Be one of the clients."""
        replies = [await self.gateway.chat(self.key, f"question {client}", **ASKED)]
        while replies[-1].status_code == 200:
            replies.append(await self.gateway.chat(self.key, f"question {client}.{len(replies)}", **ASKED))
        return replies


@asynccontextmanager
async def capped(home: str, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncGenerator[Capped]:
    """Run a gateway over a home; PostgreSQL is one where several processes share it."""
    count, store, leases = 1, {}, in_memory
    if home == "PostgreSQL":
        count, store = 2, {"DATABASE_URL": request.getfixturevalue("postgres_server").database()}
        leases = in_postgres
    elif home != "memory":
        redis = request.getfixturevalue("own_redis")
        count, store = 4 if home.startswith("four") else 1, {"REDIS_URL": redis.url}
        leases = partial(in_redis, redis)
    team = {"name": "tight", "budgets": [{"limit": CAP, "window": "month"}], "apps": [{"name": "bot"}]}
    models = [model | DEAR if model["name"] == "dear" else model for model in POLICY["models"]]
    document = policy(teams=[team], models=models, cache={})
    async with worker_processes(tmp_path, count, document, SLUICE_STORE_SILENCE_MS=PATIENT_MS, **store) as gateway:
        gateway.upstream.script = Script(pieces=ANSWER)
        yield Capped(await gateway.key("tight"), gateway, partial(leases, gateway))


@pytest.fixture
def own_redis() -> Generator[RedisServer]:
    with redis_server() as server:
        yield server


async def in_memory(_: Workers) -> int:
    return 0  # nobody else can look; the process tells it when it stops


async def in_redis(redis: RedisServer, _: Workers) -> int:
    return int(redis.call("ZCARD", "sluice:1:{sluice}:leases").strip(b":\r\n"))


async def in_postgres(gateway: Workers) -> int:
    async with gateway.database.reading() as connection:
        return int(await connection.scalar(text("SELECT count(*) FROM counter_hold")) or 0)


def refused_well(reply: httpx.Response) -> bool:
    """Whether a refusal says all that a client needs to know."""
    error = reply.json()["error"]
    return (
        reply.status_code == 429
        and error["code"] == error["type"] == "insufficient_quota"
        and error["message"].startswith("The month budget of team:tight is 1.00 USD: ")
        and Decimal(error["limit_usd"]) == CAP
        and reply.headers["x-should-retry"] == "false"
        and int(reply.headers["retry-after"]) > 0
    )


@pytest.mark.parametrize("home", HOMES)
async def test_two_hundred_clients_cannot_pass_a_cap_together(
    home: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    async with capped(home, tmp_path, request) as tight:
        told = await asyncio.gather(*(tight.ask_until_refused(number) for number in range(CLIENTS)))
        told.append(await tight.ask_until_refused(CLIENTS))  # now that nothing is held any more
        replies = [reply for one in told for reply in one]
        gateway, answered = tight.gateway, [reply for reply in replies if reply.status_code == 200]
        await eventually(lambda: ended(gateway.database, len(replies)), 30)
        found = await books(gateway.database)
        usage = await gateway.client.get("/v1/usage", headers={"x-api-key": tight.key})
        leases = await tight.leases()

    assert [reply.text for reply in replies if reply not in answered and not refused_well(reply)] == []
    assert CAP - HELD_FOR_ONE < found.spent / 10**9 <= CAP
    assert found.spent == sum(int(Decimal(reply.headers["x-sluice-cost-usd"]) * 10**9) for reply in answered)
    assert found.attempts == len(gateway.upstream.bodies) == found.settled == len(answered)
    assert found.refused == len(replies) - len(answered)
    (budget,) = usage.json()["budgets"]
    assert (Decimal(budget["spent_usd"]) * 10**9, budget["held_usd"], leases) == (found.spent, "0.00", 0)
    assert re.findall(r'"open_holds":(\d+)', gateway.log.read_text()) == ["0"] * gateway.count
