"""Several processes over one queue: each line has one result, also when one of them is killed."""

import os
import signal
from pathlib import Path

from tests.support.batch_files import BatchClient, chat_line
from tests.support.books import books
from tests.support.running_gateway import policy
from tests.support.servers import PostgresServer
from tests.support.waiting import until
from tests.support.worker_processes import START_S, worker_processes

LINES = 120
MOST = 6


async def test_lines_of_a_worker_that_is_killed_are_another_worker_s(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    team = {"name": "team", "budgets": [{"limit": 10, "window": "month"}], "apps": [{"name": "bot"}]}
    document = policy(teams=[team], cache={}, on_store_error="open", deferred={"concurrency": MOST})
    environment = {"DATABASE_URL": postgres_server.database(), "SLUICE_STORE_SILENCE_MS": "2000"}
    async with worker_processes(tmp_path, 2, document, **environment) as gateway:
        client = BatchClient(gateway.client, await gateway.key("team"))
        batch_id = await client.submit(chat_line(n, model="dear") for n in range(1, LINES + 1))
        await until(lambda: gateway.upstream.finished > LINES // 4, START_S)
        os.kill(gateway.pids[0], signal.SIGKILL)
        batch = await client.finished(batch_id, START_S)
        results = await client.results(batch["output_file_id"])
        found = await books(gateway.database)

    assert batch["request_counts"] == {"total": LINES, "completed": LINES, "failed": 0}
    assert [line["custom_id"] for line in results] == [f"line-{n}" for n in range(1, LINES + 1)]
    assert not found.twice
    assert LINES <= len(gateway.upstream.bodies) <= LINES + MOST
