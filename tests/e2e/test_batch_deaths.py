"""A batch of a thousand lines in a gateway that is killed twice: a thousand results, each once, and every cost once."""

import asyncio
from collections import Counter
from pathlib import Path

import httpx
import yaml

from tests.e2e.test_sudden_death import Life, ask
from tests.e2e.test_up import free_port
from tests.support.batch_files import BatchClient, chat_line
from tests.support.running_gateway import POLICY
from tests.support.scripted_upstream import ScriptedUpstream, serve

LINES = 1000
KILLED_AFTER = (250, 600)
WITHIN_S = 120.0


async def test_a_thousand_lines_have_a_result_each_after_two_kills(tmp_path: Path) -> None:
    document = POLICY | {
        "budgets": [{"scope": "org", "limit": 1000, "window": "month"}],
        "deferred": {"concurrency": 8},
    }
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump(document))
    upstream = ScriptedUpstream()
    async with serve(upstream.app(), uds=tmp_path / "up.sock"):
        life = Life(tmp_path, free_port())
        key = await life.key()
        process = await life.serve()
        async with httpx.AsyncClient(base_url=life.base_url, timeout=30) as http:
            batch_id = await BatchClient(http, key).submit(chat_line(n, model="dear") for n in range(1, LINES + 1))
        for enough in KILLED_AFTER:
            async with asyncio.timeout(WITHIN_S):
                while upstream.finished < enough:  # noqa: ASYNC110  a number grows: no event to wait for
                    await asyncio.sleep(0.01)
            process.kill()
            await process.wait()
            process = await life.serve()
        async with httpx.AsyncClient(base_url=life.base_url, timeout=30) as http:
            client = BatchClient(http, key)
            batch = await client.finished(batch_id, WITHIN_S)
            results = await client.results(batch["output_file_id"])
        process.terminate()
        assert await process.wait() == 0, (tmp_path / "log").read_text()[-2000:]

    assert batch["request_counts"] == {"total": LINES, "completed": LINES, "failed": 0}
    assert [line["custom_id"] for line in results] == [f"line-{n}" for n in range(1, LINES + 1)]
    ends = {
        str(request_id): (str(kind), int(cost))
        for request_id, kind, cost in ask(
            tmp_path, "SELECT request_id, kind, cost_nanos FROM ledger_event WHERE kind <> 'held'"
        )
    }
    costs = dict(ask(tmp_path, "SELECT request_id, cost_nanos FROM ledger_attempt"))
    told = [line["response"] for line in results]
    assert {ends[one["request_id"]][0] for one in told} == {"settled"}
    prices = {(12 * 10_000 + 4 * 30_000)}
    assert {ends[one["request_id"]][1] for one in told} == prices
    kinds = Counter(kind for kind, _ in ends.values())
    attempts = len(costs)
    assert kinds["settled"] == attempts
    assert attempts <= len(upstream.bodies) <= attempts + kinds["expired"]
    assert LINES <= attempts <= LINES + len(KILLED_AFTER) * 8
    ((open_holds,),) = ask(
        tmp_path,
        "SELECT count(*) FROM (SELECT 1 FROM ledger_event GROUP BY request_id"
        " HAVING sum(kind = 'held') <> sum(kind NOT IN ('held', 'refused')))",  # nothing is held for who is refused
    )
    assert open_holds == 0
    assert sum(cost for kind, cost in ends.values() if kind == "settled") == sum(costs.values())
    assert told[0]["body"]["usage"]["total_tokens"] == 16
