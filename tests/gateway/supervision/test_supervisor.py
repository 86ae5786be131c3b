import asyncio
import os
import signal
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gateway.supervision.child import Command
from gateway.supervision.probe import Place
from gateway.supervision.sockets import claim_port
from gateway.supervision.supervisor import Backoff, Plan, Supervisor

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "tests" / "support" / "scripted_process.py"
DEADLINE_S = 20.0


async def becomes_true(happened: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not happened():  # noqa: ASYNC110  (other processes set no event of ours)
            await asyncio.sleep(0.02)


@dataclass
class Run:
    """A supervisor over scripted processes, and all that came of it."""

    folder: Path
    said: list[str] = field(default_factory=list[str])
    announced: list[str] = field(default_factory=list[str])

    @property
    def log(self) -> list[str]:
        path = self.folder / "log"
        return path.read_text().splitlines() if path.exists() else []

    def command(self, name: str, *options: str) -> Command:
        line = (sys.executable, str(SCRIPT), name, str(self.folder / "log"), *options)
        return Command(name=name, line=line, environment=os.environ)

    def supervisor(
        self, gateway: Command, engine: Command | None = None, port: int = 1, grace_s: float = 10
    ) -> Supervisor:
        plan = Plan(
            gateway=gateway,
            engine=engine,
            ready_at=Place(port=port),
            greeting=lambda: "ready",
            engines=frozenset({"engine"}),
            grace_s=grace_s,
            backoff=Backoff(first_s=0.01, longest_s=0.05),
        )
        return Supervisor(plan, announce=self.announced.append, say=self.said.append, clock=time.monotonic)

    async def until(self, event: str, times: int = 1) -> None:
        await becomes_true(lambda: self.log.count(event) >= times)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


async def test_a_signal_stops_the_gateway_before_the_engine_it_needs(run: Run) -> None:
    supervisor = run.supervisor(run.command("gateway"), run.command("engine"))
    running = asyncio.create_task(supervisor.run())
    await run.until("gateway began")
    await run.until("engine began")
    os.kill(os.getpid(), signal.SIGTERM)
    assert await asyncio.wait_for(running, DEADLINE_S) == 0
    assert run.log[-4:] == ["gateway told", "gateway ended", "engine told", "engine ended"]


async def test_a_gateway_that_ends_takes_the_engine_along_and_its_status_is_ours(run: Run) -> None:
    supervisor = run.supervisor(run.command("gateway", "--dies", "7"), run.command("engine"))
    assert await asyncio.wait_for(supervisor.run(), DEADLINE_S) == 7
    assert "engine ended" in run.log or "engine began" not in run.log
    assert run.said[-1] == "The gateway ended by itself with status 7; stopping."


async def test_a_dead_engine_is_started_again_and_again(run: Run) -> None:
    running = asyncio.create_task(run.supervisor(run.command("gateway"), run.command("engine", "--dies", "3")).run())
    await becomes_true(lambda: sum("engine ended" in line for line in run.said) >= 3)
    await run.until("gateway began")
    os.kill(os.getpid(), signal.SIGINT)
    assert await asyncio.wait_for(running, DEADLINE_S) == 0
    assert [line for line in run.said if "engine ended" in line][:3] == [
        "The engine ended with status 3; starting it again in 0.01 s.",
        "The engine ended with status 3; starting it again in 0.02 s.",
        "The engine ended with status 3; starting it again in 0.04 s.",
    ]


async def test_a_child_that_does_not_listen_is_killed_after_the_grace_period(run: Run) -> None:
    running = asyncio.create_task(run.supervisor(run.command("gateway", "--deaf"), grace_s=0.3).run())
    await run.until("gateway began")
    os.kill(os.getpid(), signal.SIGTERM)
    assert await asyncio.wait_for(running, DEADLINE_S) == 0
    assert "gateway ended" not in run.log


async def test_a_gateway_that_fails_while_it_stops_is_our_failure(run: Run) -> None:
    running = asyncio.create_task(run.supervisor(run.command("gateway", "--ends", "1")).run())
    await run.until("gateway began")
    os.kill(os.getpid(), signal.SIGTERM)
    assert await asyncio.wait_for(running, DEADLINE_S) == 1
    assert run.said[-1] == "Stopping: finishing what is in flight (Ctrl-C again cuts it off) …"


async def test_a_second_signal_waits_for_nobody(run: Run) -> None:
    running = asyncio.create_task(run.supervisor(run.command("gateway", "--deaf"), grace_s=DEADLINE_S * 2).run())
    await run.until("gateway began")
    os.kill(os.getpid(), signal.SIGINT)
    await run.until("gateway told")
    os.kill(os.getpid(), signal.SIGINT)
    assert await asyncio.wait_for(running, DEADLINE_S) == 0


async def test_the_greeting_comes_once_the_gateway_is_ready_and_what_it_waits_for_is_said_once(run: Run) -> None:
    port = claim_port("127.0.0.1", 0)
    supervisor = run.supervisor(run.command("gateway", "--port", str(port), "--busy", "3"), port=port)
    running = asyncio.create_task(supervisor.run())
    await becomes_true(lambda: bool(run.announced))
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.wait_for(running, DEADLINE_S)
    assert run.announced == ["ready"]
    waited_for = "Not ready yet: no chat model can be called; the engine is still loading; provider cloud: no key"
    assert run.said.count(waited_for) == 1
    assert "Model minilm is still loading." in run.said


PARENT = """
import asyncio, sys, time
from gateway.supervision.child import Command
from gateway.supervision.probe import Place
from gateway.supervision.supervisor import Plan, Supervisor
script, log = sys.argv[1:]
def command(name, *options):
    return Command(name=name, line=(sys.executable, script, name, log, *options), environment={})
plan = Plan(gateway=command("gateway"), engine=command("engine"), ready_at=Place(port=1), greeting=str)
asyncio.run(Supervisor(plan, announce=print, say=print, clock=time.monotonic).run())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
async def test_children_end_when_the_parent_is_killed_outright(run: Run) -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, str(SCRIPT), str(run.folder / "log"), cwd=ROOT, stdout=PIPE
    )
    await run.until("gateway began")
    await run.until("engine began")
    parent.kill()
    await parent.communicate()
    await run.until("gateway ended")
    await run.until("engine ended")


@pytest.mark.parametrize(("failures", "delay"), [(1, 0.5), (2, 1.0), (3, 2.0), (7, 30.0), (10_000, 30.0)])
def test_the_delay_doubles_up_to_its_cap(failures: int, delay: float) -> None:
    assert Backoff().delay(failures) == delay
