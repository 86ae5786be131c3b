"""A bounded queue before one worker."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.embedding.batching import Batches, Limits, readable
from cache.errors import EmbeddingBusy, EmbeddingUnavailable
from tests.support.waiting import until

PATIENT = Limits(waiting=100_000, batch=8, patience_s=60)


class Worker:
    """Answers each text with its length, once it is let; keeps the batches it saw."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.at_work = 0
        self.most_at_work = 0
        self.go = asyncio.Event()
        self.go.set()

    async def __call__(self, texts: Sequence[str]) -> list[int]:
        self.batches.append(list(texts))
        self.at_work += 1
        self.most_at_work = max(self.most_at_work, self.at_work)
        try:
            await asyncio.sleep(0)
            await self.go.wait()
            if "bad" in texts:
                raise ValueError
        finally:
            self.at_work -= 1
        return [len(text) for text in texts]


async def begun(worker: Worker) -> None:
    await until(lambda: worker.at_work == 1)


async def test_thousands_of_callers_get_their_own_results_in_batches() -> None:
    worker = Worker()
    batches = Batches(worker, PATIENT)
    results = await asyncio.gather(*(batches.run(["x" * (caller % 97)]) for caller in range(5_000)))
    assert [result[0] for result in results] == [caller % 97 for caller in range(5_000)]
    assert len(worker.batches) == 5_000 / PATIENT.batch
    assert worker.most_at_work == 1
    await batches.close()


@given(st.lists(st.lists(st.text(max_size=9), max_size=20), max_size=20))
async def test_each_request_gets_a_result_for_each_of_its_texts(requests: list[list[str]]) -> None:
    batches = Batches(Worker(), PATIENT)
    results = await asyncio.gather(*map(batches.run, requests))
    assert [list(result) for result in results] == [[len(text) for text in texts] for texts in requests]
    await batches.close()


async def test_a_full_queue_refuses_at_once() -> None:
    worker = Worker()
    worker.go.clear()
    batches = Batches(worker, Limits(waiting=3, batch=1, patience_s=60))
    first = asyncio.create_task(batches.run(["in hand"]))
    await begun(worker)
    waiting = asyncio.create_task(batches.run(["a", "b"]))
    await asyncio.sleep(0)
    with pytest.raises(EmbeddingBusy, match="too many"):
        await batches.run(["c", "d"])
    worker.go.set()
    assert list(await first) == [7]
    assert list(await waiting) == [1, 1]
    await batches.close()


async def test_a_slow_worker_lets_its_callers_go_and_refuses_others_until_it_is_back() -> None:
    now = 0.0
    worker = Worker()
    worker.go.clear()
    batches = Batches(worker, Limits(patience_s=0.01), lambda: now)
    with pytest.raises(EmbeddingBusy, match="took too long"):
        await batches.run(["a"])
    now = 1.0
    with pytest.raises(EmbeddingBusy, match="would take too long"):
        await batches.run(["b"])
    worker.go.set()
    await until(lambda: worker.at_work == 0)
    assert list(await batches.run(["ccc"])) == [3]
    assert worker.batches == [["a"], ["ccc"]]
    await batches.close()


async def test_who_would_wait_too_long_at_the_pace_of_late_is_refused_at_once() -> None:
    now = 0.0
    worker = Worker()

    async def slowly(texts: Sequence[str]) -> list[int]:
        nonlocal now
        results = await worker(texts)
        now += 1.0
        return results

    batches = Batches(slowly, Limits(patience_s=10, batch=1), lambda: now)
    for _ in range(50):  # until the pace is one text in a second
        await batches.run(["a"])
    worker.go.clear()
    patient = [asyncio.create_task(batches.run(["a"])) for _ in range(11)]
    await begun(worker)
    with pytest.raises(EmbeddingBusy, match="would take too long"):
        await batches.run(["b"])
    worker.go.set()
    await asyncio.gather(*patient)
    await batches.close()


async def test_who_leaves_is_not_computed_and_disturbs_nobody() -> None:
    worker = Worker()
    worker.go.clear()
    batches = Batches(worker, Limits(batch=1, patience_s=60))
    first, leaver, last = (asyncio.create_task(batches.run([text])) for text in ("a", "bb", "ccc"))
    await begun(worker)
    leaver.cancel()
    await asyncio.sleep(0)
    worker.go.set()
    assert [list(await task) for task in (first, last)] == [[1], [3]]
    assert worker.batches == [["a"], ["ccc"]]
    await batches.close()


async def test_who_leaves_while_it_is_computed_disturbs_nobody() -> None:
    worker = Worker()
    worker.go.clear()
    batches = Batches(worker, Limits(patience_s=60))
    leaver, other = (asyncio.create_task(batches.run([text])) for text in ("a", "bb"))
    await begun(worker)
    leaver.cancel()
    await asyncio.sleep(0)
    worker.go.set()
    assert list(await other) == [2]
    await batches.close()


async def test_what_goes_wrong_reaches_the_callers_of_that_batch_alone() -> None:
    batches = Batches(Worker(), Limits(batch=2, patience_s=60))
    tasks = [asyncio.create_task(batches.run([text])) for text in ("a", "bad", "c")]
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(results[0], ValueError)
    assert isinstance(results[1], ValueError)
    assert results[2] == [1]
    await batches.close()


async def test_closing_while_busy_ends_all_who_wait() -> None:
    worker = Worker()
    worker.go.clear()
    batches = Batches(worker, Limits(batch=1, patience_s=60))
    tasks = [asyncio.create_task(batches.run(["a"])) for _ in range(3)]
    await begun(worker)
    await batches.close()
    await batches.close()
    assert all(
        isinstance(result, EmbeddingUnavailable) for result in await asyncio.gather(*tasks, return_exceptions=True)
    )
    with pytest.raises(EmbeddingUnavailable, match="closed"):
        await batches.run(["a"])


def test_what_utf_8_cannot_say_is_replaced_and_what_is_too_long_cut() -> None:
    assert readable("half a pair: \ud800, more", 15) == "half a pair: ?,"
