"""Open everything the gateway is made of, in order, and close it in reverse. The only place that builds things."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter, time
from typing import Final
from zoneinfo import ZoneInfo

from structlog.typing import FilteringBoundLogger

from cache.answers import AnswerCache
from cache.stores.memory import MemoryAnswers
from dashboards.reports import LedgerReports
from dashboards.sign_in import SignIn
from gateway.alerting.rounds import open_alerts
from gateway.catalogue import Catalogue, Measured, Model
from gateway.chat import ChatService
from gateway.embeddings import EmbeddingService
from gateway.endpoints.admin.desk import Desk
from gateway.endpoints.edge import Edge
from gateway.operations.home import Home
from gateway.operations.lock import lock
from gateway.operations.logs import open_log
from gateway.operations.metrics import Metrics
from gateway.operations.rounds import rounds
from gateway.operations.secrets import admin_key, make_home, session_secret, write_private
from gateway.policy.enforcement import notes
from gateway.policy.source import LoadedPolicy, load_policy
from gateway.providers.kinds import open_upstreams
from gateway.providers.upstream import Upstream
from gateway.settings import Settings
from gateway.steps.accounts import Accounts
from gateway.steps.admission import Admission
from gateway.steps.purchasing import Purchasing
from gateway.steps.slot import ExactCache
from governance.audit.chain import GATEWAY
from governance.counters.alone import OnAway
from governance.counters.guarded import GuardedCounters
from governance.counters.open import open_counters
from governance.database import Database, open_database
from governance.errors import Unauthenticated
from governance.identity import Keyring
from governance.keys import create_key, refresh
from governance.ledger.reading.history import DailySpend
from governance.ledger.writer import LedgerWriter
from governance.limits import Budget
from governance.limits.loops import LoopGuard
from governance.people.access import Access
from governance.policy.sections import Allowance, OnStoreError
from governance.purse import Purse
from migrations import upgrade

CACHE_BYTES: Final = 64 * 1024 * 1024
KEYS_S: Final = 0.5
"""How often the keys are looked at: a key made or revoked by any process is known within a second."""

PROVIDERS_S: Final = 1.0
LEASES_S: Final = 1.0
SHARED_LEVELS_S: Final = 1.0
"""How old a level may be that a budget step follows, where asking for it is a trip to another process."""

_DEMO: Final = ("demo", "demo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything the application is made of. `local_now` tells the time in the policy's zone.

    `counters` are None where this process counts in its own memory, which cannot be away.
    """

    edge: Edge
    chat: ChatService
    embeddings: EmbeddingService
    admission: Admission
    catalogue: Catalogue
    purse: Purse
    counters: GuardedCounters | None
    ledger: LedgerWriter
    metrics: Metrics
    reports: LedgerReports
    history: DailySpend
    sign_in: SignIn
    desk: Desk
    timezone: ZoneInfo
    log: FilteringBoundLogger
    now: Callable[[], datetime]
    local_now: Callable[[], datetime]


@asynccontextmanager
async def open_services(settings: Settings, env: Mapping[str, str], *, alone: bool = True) -> AsyncGenerator[Services]:
    """Open the services of one gateway process; one that is not `alone` has a parent that keeps the home.

    Raises:
        HomeInUse: another gateway serves from this home.
        PolicyInvalid: the policy file is no policy.
        StoreUnavailable: the database cannot be opened.
    """
    async with AsyncExitStack() as stack:
        log = open_log(settings.log_level)
        home = make_home(settings.home)
        if alone:
            stack.enter_context(lock(home, settings.port))
        policy = load_policy(settings.policy_file, env, _now())
        _say(log, policy)
        database = await _open_database(settings.database, stack)
        keyring = Keyring()
        await refresh(keyring, database)
        await _keep_demo_key(home, database, keyring, policy)
        rule = _when_away(policy.document.on_store_error)
        ledger = await stack.enter_async_context(LedgerWriter(database, home.spool, when_away=rule))
        purse, guard = await _open_purse(settings, rule, policy, keyring, database, ledger, stack)
        upstreams = await open_upstreams(policy.document, policy.unavailable, settings.engine, stack)
        services = _compose(settings, home, policy, database, keyring, ledger, purse, guard, upstreams, log)
        await _first_look(upstreams)
        stack.push_async_exit(
            await rounds(
                log,
                (KEYS_S, "keys", lambda: refresh(keyring, database)),
                (LEASES_S, "leases", lambda: _end_leases(purse, database)),
                *await open_alerts(home, policy, keyring, purse, database, log, stack),
                *((PROVIDERS_S, f"provider {name}", upstream.refresh) for name, upstream in upstreams.items()),
            )
        )
        yield services


def _compose(
    settings: Settings,
    home: Home,
    policy: LoadedPolicy,
    database: Database,
    keyring: Keyring,
    ledger: LedgerWriter,
    purse: Purse,
    counters: GuardedCounters | None,
    upstreams: Mapping[str, Upstream],
    log: FilteringBoundLogger,
) -> Services:
    timezone = policy.rules.timezone
    catalogue = Catalogue(_models(policy), policy.document.routes, upstreams, policy.document.baseline)
    metrics = Metrics()
    accounts = Accounts(catalogue, log, metrics)
    admission = Admission(keyring, policy.rules, purse, policy.version, accounts)
    exact = ExactCache(AnswerCache(MemoryAnswers(CACHE_BYTES, time), time), policy.document.cache.exact, catalogue)
    purchasing = Purchasing(
        admission=admission,
        catalogue=catalogue,
        purse=purse,
        accounts=accounts,
        timezone=timezone,
        loops=LoopGuard(policy.rules.loop),
    )
    given = settings.admin_key.get_secret_value() if settings.admin_key else None
    access = Access(database, given or admin_key(home, secrets.token_bytes), time)
    return Services(
        edge=Edge(
            admission=admission, accounts=accounts, metrics=metrics, now=_now, ticks=perf_counter, new_id=_request_id
        ),
        chat=ChatService(
            admission=admission, catalogue=catalogue, exact=exact, purchasing=purchasing, ticks=perf_counter
        ),
        embeddings=EmbeddingService(
            admission=admission, catalogue=catalogue, exact=exact, purchasing=purchasing, ticks=perf_counter
        ),
        admission=admission,
        catalogue=catalogue,
        purse=purse,
        counters=counters,
        ledger=ledger,
        metrics=metrics,
        reports=LedgerReports(database),
        history=DailySpend(database, timezone),
        sign_in=SignIn(people=access, secret=session_secret(home, secrets.token_bytes), clock=time),
        desk=Desk(
            access=access,
            database=database,
            policy=policy,
            learn_keys=lambda: refresh(keyring, database),
            now=_now,
            random_bytes=secrets.token_bytes,
        ),
        timezone=timezone,
        log=log,
        now=_now,
        local_now=lambda: datetime.now(timezone),
    )


def _models(policy: LoadedPolicy) -> list[Model]:
    found: list[Model] = []
    for section in policy.document.models:
        hourly = policy.document.providers[section.provider].machine_usd_per_hour
        measured = Measured(hourly) if section.price == "measured" and hourly is not None else None
        price = measured or policy.prices.get(section.name)
        found.append(Model(section.name, section.provider, section.model, section.tier, section.kind, price))
    return found


async def _open_database(url: str, stack: AsyncExitStack) -> Database:
    await asyncio.to_thread(upgrade, url)
    database = open_database(url)
    stack.push_async_callback(database.close)
    return database


def _when_away(rule: OnStoreError) -> OnAway:
    return rule.allowance_usd if isinstance(rule, Allowance) else rule


async def _open_purse(
    settings: Settings,
    rule: OnAway,
    policy: LoadedPolicy,
    keyring: Keyring,
    database: Database,
    ledger: LedgerWriter,
    stack: AsyncExitStack,
) -> tuple[Purse, GuardedCounters | None]:
    """Teach the counters what has been spent; those that can forget it are taught again when they have."""
    counters = open_counters(
        redis_url=settings.redis_url,
        database_url=settings.database,
        workers=settings.workers,
        on_away=rule,
        silence_s=settings.store_silence_s,
    )
    guard = counters if isinstance(counters, GuardedCounters) else None
    purse = Purse(counters, ledger, time, levels_for_s=0.0 if guard is None else SHARED_LEVELS_S)

    def budgets() -> tuple[Budget, ...]:
        return (*policy.rules.budgets(), *keyring.budgets())

    await purse.rebuild(database, budgets(), _now(), policy.rules.timezone, sole=guard is None)
    if guard is None:
        return purse, None

    async def refill() -> None:
        await ledger.flush(within_s=1.0)
        await purse.seed(database, budgets(), _now(), policy.rules.timezone)

    await stack.enter_async_context(guard.watch(refill))
    return purse, guard


async def _end_leases(purse: Purse, database: Database) -> None:
    await purse.expire(time())
    await purse.bury(database)


async def _keep_demo_key(home: Home, database: Database, keyring: Keyring, policy: LoadedPolicy) -> None:
    """Make the demo application's key where the policy has one and the kept key opens nothing in this database."""
    if policy.rules.app(*_DEMO) is None or _opens(home, keyring):
        return
    team, app = _DEMO
    minted = await create_key(
        database, team=team, app=app, by=GATEWAY, now=_now(), random_bytes=secrets.token_bytes, name="demo"
    )
    write_private(home.demo_key, minted.key)
    await refresh(keyring, database)


def _opens(home: Home, keyring: Keyring) -> bool:
    """Say whether the kept demo key is one of this database's; a revoked one is, and stays revoked."""
    if not home.demo_key.exists():
        return False
    try:
        keyring.authenticate(home.demo_key.read_text(encoding="utf-8").strip(), _now())
    except Unauthenticated as error:
        return error.reason in {"revoked", "expired"}
    return True


async def _first_look(upstreams: Mapping[str, Upstream]) -> None:
    await asyncio.gather(*(upstream.refresh() for upstream in upstreams.values()))


def _say(log: FilteringBoundLogger, policy: LoadedPolicy) -> None:
    log.info("policy", source=policy.source, version=policy.version)
    for warning in policy.warnings:
        log.warning("policy", at=f"{warning.file}:{warning.line}:{warning.column}", warning=warning.message)
    for note in notes(policy.document):
        log.warning("policy not yet enforced", path=note.path, instead=note.sentence)


def _now() -> datetime:
    return datetime.now(UTC)


def _request_id() -> str:
    return f"req_{secrets.token_hex(12)}"
