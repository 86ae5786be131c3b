"""The light parent of `sluice up`: it starts the engine and the gateway, and stops all that it started.

A dead engine is started again, with a growing delay while it keeps dying; the gateway meanwhile answers 503 for it.
A dead gateway ends everything. The first SIGTERM or Ctrl-C stops the gateway, which finishes its answers, then the
engine it needs for them; a second one kills both.
"""

import asyncio
import signal
from asyncio.subprocess import Process
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from gateway.supervision.child import Command, start, stop
from gateway.supervision.probe import Place, Reply, ask

_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_POLL_S = 0.2
_ENGINE_SHARE = 0.2  # of the grace period, kept for the engine when the gateway uses up its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How long to wait before the n-th start in a row; a run of `steady_s` seconds starts the count afresh."""

    first_s: float = 0.5
    longest_s: float = 30.0
    steady_s: float = 60.0

    def delay(self, failures: int) -> float:
        """Return the seconds to wait after so many failures in a row (1, 2, …)."""
        return min(self.longest_s, self.first_s * 2.0 ** min(failures - 1, 32))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to run: the gateway, the engine if the policy has one, and what to say once `/readyz` answers 200.

    `engines` are the policy's names for the engine that is started here.
    """

    gateway: Command
    engine: Command | None
    ready_at: Place
    greeting: Callable[[], str]
    engines: frozenset[str] = frozenset()
    grace_s: float = 20.0
    backoff: Backoff = field(default_factory=Backoff)


class _Readiness(msgspec.Struct):
    """What `/readyz` says beside yes or no."""

    reasons: list[str] = []
    unavailable: dict[str, str] = {}
    unavailable_models: dict[str, str] = {}


class Supervisor:
    """Runs one plan once.

    Args:
        plan: what to run.
        announce: where the greeting goes, once.
        say: where progress and trouble go.
        clock: monotonic seconds.
    """

    def __init__(
        self, plan: Plan, *, announce: Callable[[str], None], say: Callable[[str], None], clock: Callable[[], float]
    ) -> None:
        self._plan = plan
        self._announce = announce
        self._say = say
        self._clock = clock
        self._stopping = asyncio.Event()
        self._alive: set[Process] = set()

    async def run(self) -> int:
        """Run until told to stop or until the gateway ends; return the exit status for the shell."""
        loop = asyncio.get_running_loop()
        for number in _STOP_SIGNALS:
            loop.add_signal_handler(number, self._told_to_stop)
        engine = loop.create_task(self._keep(self._plan.engine)) if self._plan.engine else None
        gateway = await self._start(self._plan.gateway)
        greeter = loop.create_task(self._greet())
        ended, told = loop.create_task(gateway.wait()), loop.create_task(self._stopping.wait())
        try:
            await asyncio.wait({ended, told}, return_when=asyncio.FIRST_COMPLETED)
            by_itself = not told.done()
            if by_itself:
                self._say(f"The gateway ended by itself with status {_shell_status(await ended)}; stopping.")
        finally:
            greeter.cancel()
            await self._stop(gateway, engine)
            await asyncio.gather(ended, greeter, return_exceptions=True)
            told.cancel()
            for number in _STOP_SIGNALS:
                loop.remove_signal_handler(number)
        status = await ended
        # Told to stop, it may still fail; that it was killed at the end of its time is our doing.
        return _shell_status(status) if by_itself else max(0, status)

    async def _start(self, command: Command) -> Process:
        process = await start(command)
        self._alive.add(process)
        return process

    async def _stop(self, gateway: Process, engine: asyncio.Task[None] | None) -> None:
        """Stop the gateway, then the engine; both together within the grace period."""
        deadline = self._clock() + self._plan.grace_s
        await stop(gateway, self._plan.grace_s * (1 - _ENGINE_SHARE if engine else 1))
        if engine:
            engine.cancel()
            await asyncio.wait({engine})
            for process in [p for p in self._alive if p.returncode is None]:
                await stop(process, max(0.0, deadline - self._clock()))

    async def _keep(self, command: Command) -> None:
        """Start a command again whenever it ends."""
        failures = 0
        while True:
            began = self._clock()
            process = await self._start(command)
            status = _shell_status(await process.wait())
            self._alive.discard(process)
            failures = 1 if self._clock() - began >= self._plan.backoff.steady_s else failures + 1
            delay = self._plan.backoff.delay(failures)
            self._say(f"The {command.name} ended with status {status}; starting it again in {delay:g} s.")
            await asyncio.sleep(delay)

    async def _greet(self) -> None:
        """Greet once the gateway is ready; until then say what it waits for, each thing once."""
        said = ""
        while (reply := await ask(self._plan.ready_at, "/readyz")) is None or reply.status != 200:  # noqa: PLR2004  (OK)
            if (waiting := _waiting_for(reply, self._plan.engines)) != said:
                self._say(waiting)
                said = waiting
            await asyncio.sleep(_POLL_S)
        self._announce(self._plan.greeting())
        for model, reason in _readiness(reply).unavailable_models.items():
            self._say(f"Model {model} {reason}.")

    def _told_to_stop(self) -> None:
        if self._stopping.is_set():
            for process in self._alive:
                if process.returncode is None:
                    process.kill()
        else:
            self._say("Stopping: finishing what is in flight (Ctrl-C again cuts it off) …")
        self._stopping.set()


def _waiting_for(reply: Reply | None, engines: frozenset[str]) -> str:
    """Word why `/readyz` says no; an engine that was started here and does not answer is loading."""
    if reply is None:
        return "Waiting for the gateway to listen …"
    said = _readiness(reply)
    reasons = [f"{reason[:1].lower()}{reason[1:]}".removesuffix(".") for reason in said.reasons]
    others = [f"provider {name}: {reason}" for name, reason in said.unavailable.items() if name not in engines]
    loading = ["the engine is still loading"] if engines & said.unavailable.keys() else []
    if pieces := [*reasons, *loading, *others]:
        return f"Not ready yet: {'; '.join(pieces)}"
    return f"Waiting for the gateway, which answers {reply.status} …"


def _readiness(reply: Reply) -> _Readiness:
    try:
        return msgspec.json.decode(reply.body, type=_Readiness)
    except msgspec.MsgspecError:
        return _Readiness()


def _shell_status(returncode: int) -> int:
    """Return what a shell would say of a process: 128 + n for one that died of signal n."""
    return returncode if returncode >= 0 else 128 - returncode
