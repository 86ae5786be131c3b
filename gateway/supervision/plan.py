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

from gateway.operations.secrets import make_home
from gateway.policy.document import Policy
from gateway.policy.source import load_policy
from gateway.settings import Settings
from gateway.supervision.child import Command
from gateway.supervision.greeting import Greeting
from gateway.supervision.probe import Place
from gateway.supervision.sockets import claim_port, engine_socket
from gateway.supervision.supervisor import Plan, Supervisor

_SLUICE = (sys.executable, "-m", "gateway.cli")
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  (a wildcard is no address to call)
NO_ENGINE = "The bundled engine is not installed here: pip install 'sluicegate[engine]'."


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """How `up` speaks: how the greeting is worded, where it goes, and where progress and trouble go."""

    greet: Callable[[Greeting], str]
    announce: Callable[[str], None]
    say: Callable[[str], None]


def run_up(settings: Settings, environment: Mapping[str, str], voice: Voice, at: datetime) -> int:
    """Start the gateway, and the engine when the policy has one; return the exit status when all has ended.

    Raises:
        PolicyInvalid: The policy is none.
        PortTaken: The gateway could not listen.
        OSError: The home folder cannot be made.
    """
    policy = load_policy(settings.policy_file, environment, at).document
    port = claim_port(settings.host, settings.port)
    make_home(settings.home)
    with ExitStack() as stack:
        socket: Path | None = None
        if wants_engine(policy) and not settings.engine_url:
            if find_spec("torch"):
                socket = stack.enter_context(engine_socket(settings.home))
            else:
                voice.say(NO_ENGINE)
        plan = plan_of(settings, environment, voice.greet, port=port, socket=socket, model=_model_to_try(policy))
        supervisor = Supervisor(plan, announce=voice.announce, say=voice.say, clock=time.monotonic)
        return asyncio.run(supervisor.run())


def wants_engine(policy: Policy) -> bool:
    """Say whether a policy has the bundled engine among its providers."""
    return any(provider.kind == "engine" for provider in policy.providers.values())


def plan_of(
    settings: Settings,
    environment: Mapping[str, str],
    greet: Callable[[Greeting], str],
    *,
    port: int,
    socket: Path | None,
    model: str,
) -> Plan:
    """Return what to start.

    Args:
        settings: of this process.
        environment: what the children inherit.
        greet: how the greeting is worded.
        port: where the gateway will listen.
        socket: where the engine will listen; None to start none.
        model: what the greeting suggests to try.
    """
    shared = {**environment, "PORT": str(port)}
    if socket:
        shared["SLUICE_ENGINE_URL"] = f"unix:{socket}"
    place = Place(host=_EVERYWHERE.get(settings.host, settings.host), port=port)
    greeting = Greeting(origin=str(place), home=settings.home, model=model)
    engine_line = (*_SLUICE, "engine", "serve", "--uds", str(socket))
    return Plan(
        gateway=Command(name="gateway", line=(*_SLUICE, "serve"), environment=shared),
        engine=Command(name="engine", line=engine_line, environment=shared) if socket else None,
        ready_at=place,
        greeting=lambda: greet(greeting),
    )


def _model_to_try(policy: Policy) -> str:
    """Return the first name an application could ask for."""
    return next((route.name for route in policy.routes), next((model.name for model in policy.models), "MODEL"))
