"""One process that embeds."""

import asyncio
import sys
from pathlib import Path

import pytest

from cache.embedding.child import Child, Patience

uvloop = pytest.importorskip("uvloop")
SCRIPT = Path(__file__).parents[2] / "support" / "scripted_embedding.py"


def test_it_runs_on_the_loop_that_the_gateway_runs_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async def embed() -> int:
        child = await Child.start((sys.executable, str(SCRIPT), "works"), 1, Patience())
        vectors = await child.embed(["a", "b"])
        await child.kill()
        return len(vectors)

    monkeypatch.setenv("PYTHONPATH", str(SCRIPT.parents[2]))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(embed()) == 2


async def test_it_ends_by_itself_when_nobody_can_ask_it_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SCRIPT.parents[2]))
    child = await Child.start((sys.executable, str(SCRIPT), "works"), 1, Patience())
    child._stdin.close()  # as when the gateway is killed
    assert await child.ended() == 0


def test_each_failure_in_a_row_doubles_the_wait_up_to_a_bound() -> None:
    patience = Patience(again_s=1, longest_s=5)
    assert [patience.before_start(failures) for failures in (0, 1, 2, 3, 10**9)] == [1, 2, 4, 5, 5]
