"""An embedding in a process of its own, which may die at any time."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from cache.embedding.batching import Limits
from cache.embedding.child import Patience
from cache.embedding.process import Plan, ProcessEmbedding
from cache.errors import EmbeddingBusy, EmbeddingUnavailable

SCRIPT = Path(__file__).parents[2] / "support" / "scripted_embedding.py"
QUICK = Patience(start_s=30, stall_s=0.5, again_s=0.01)


def plan(how: str = "works", patience: Patience = QUICK) -> Plan:
    return Plan(line=(sys.executable, str(SCRIPT), how), patience=patience)


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SCRIPT.parents[2]))


@pytest.fixture
async def embedding() -> AsyncIterator[ProcessEmbedding]:
    opened = await ProcessEmbedding.open("scripted", plan(), Limits(patience_s=30))
    yield opened
    await opened.close()


async def comes_back(embedding: ProcessEmbedding) -> None:
    while True:
        try:
            await embedding.embed(["back?"])
        except EmbeddingUnavailable:
            await asyncio.sleep(0.01)
        else:
            return


async def test_it_embeds_whatever_the_text(embedding: ProcessEmbedding) -> None:
    vectors = await embedding.embed(["", "half a pair: \ud800", "x" * 100_000, "שלום 👩‍👧 \x00"])
    assert vectors.shape == (4, embedding.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert (await embedding.embed([])).shape == (0, embedding.dimensions)


@pytest.mark.parametrize("text", ["die", "hang", "babble", "too few"])
async def test_a_process_that_fails_is_a_miss_and_is_started_again(embedding: ProcessEmbedding, text: str) -> None:
    with pytest.raises(EmbeddingUnavailable):
        await embedding.embed([text])
    await comes_back(embedding)


async def test_a_process_killed_while_idle_is_started_again(embedding: ProcessEmbedding) -> None:
    assert embedding.pid is not None
    os.kill(embedding.pid, signal.SIGKILL)
    await comes_back(embedding)


async def test_texts_that_it_cannot_embed_do_not_end_it(embedding: ProcessEmbedding) -> None:
    before = embedding.pid
    with pytest.raises(EmbeddingUnavailable, match="not for me"):
        await embedding.embed(["refuse"])
    await embedding.embed(["fine"])
    assert embedding.pid == before


async def test_a_slow_process_keeps_nobody_waiting() -> None:
    slow = Patience(start_s=30, stall_s=30)
    embedding = await ProcessEmbedding.open("scripted", plan(patience=slow), Limits(patience_s=0.05))
    with pytest.raises(EmbeddingBusy):
        await embedding.embed(["hang"])
    with pytest.raises(EmbeddingBusy):
        await embedding.embed(["me too"])
    await embedding.close()


async def test_closing_while_busy_ends_the_process_and_all_who_wait(embedding: ProcessEmbedding) -> None:
    tasks = [asyncio.create_task(embedding.embed(["hang"])) for _ in range(20)]
    await asyncio.sleep(0.05)
    pid = embedding.pid
    assert pid is not None
    await embedding.close()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(result, EmbeddingUnavailable) for result in results)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(EmbeddingUnavailable):
        await embedding.embed(["late"])


async def test_a_model_that_cannot_be_loaded_says_why() -> None:
    with pytest.raises(EmbeddingUnavailable, match="the model is broken"):
        await ProcessEmbedding.open("scripted", plan("fails"))


async def test_a_process_that_never_gets_ready_is_given_up() -> None:
    with pytest.raises(EmbeddingUnavailable, match="does not answer"):
        await ProcessEmbedding.open("scripted", plan("mute", Patience(start_s=0.2)))


async def test_the_process_does_not_see_the_keys_of_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(EmbeddingUnavailable) as failed:
        await ProcessEmbedding.open("scripted", plan("leaks"))
    assert "OPENAI_API_KEY" not in str(failed.value)
    assert "HF_HUB_OFFLINE" in str(failed.value)
