"""Open everything the gateway is made of, in order, and close it in reverse.

What depends on the policy is composed by `governing/governed.py`, each time another one is put in force.
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from time import perf_counter, time
from typing import Final

from structlog.typing import FilteringBoundLogger

from dashboards.reports import LedgerReports
from dashboards.sign_in import SignIn
from gateway.alerting.rounds import open_alerts
from gateway.caching.caches import Caches
from gateway.caching.opening import open_caches
from gateway.context.measures import open_measures
from gateway.counting.calibrations import SAVE_S, Calibrations
from gateway.deferred.accepting import Acceptance
from gateway.deferred.opening import open_deferred
from gateway.deferred.traffic import Traffic
from gateway.endpoints.admin.desk import Desk
from gateway.endpoints.edge import Edge
from gateway.endpoints.feedback import FeedbackDesk
from gateway.endpoints.files import Clerk
from gateway.governing.filling import fill
from gateway.governing.governed import Composer
from gateway.governing.in_force import InForce, Reign
from gateway.governing.shade import ShadeReports
from gateway.governing.succession import LOOK_S, Succession, obey_when_away
from gateway.operations.demo_key import keep_demo_key
from gateway.operations.home import Home
from gateway.operations.leases import Leases
from gateway.operations.lock import lock
from gateway.operations.logs import open_log, say_policy
from gateway.operations.metrics import Metrics
from gateway.operations.rounds import rounds
from gateway.operations.secrets import admin_key, make_home, session_secret
from gateway.policy.history.reading import Standing
from gateway.policy.history.starting import start
from gateway.providers.pool import Providers
from gateway.settings import Settings
from gateway.steps.confining import SESSIONS_KEPT, SESSIONS_S
from gateway.steps.guarding.meanings import Bundled
from gateway.steps.routing import OpenRouter
from governance.confinement.decisions import DecisionLog
from governance.confinement.sessions import SessionLabels
from governance.counters.guarded import GuardedCounters
from governance.counters.open import open_counters
from governance.database import Database, open_database
from governance.idempotency.answers import IdempotentAnswers
from governance.identity import Keyring
from governance.keys import refresh
from governance.ledger.writer import LedgerWriter
from governance.people.access import Access
from governance.purse import Purse
from migrations import upgrade

KEYS_S: Final = 0.5
"""How often the keys are looked at: a key made or revoked by any process is known within a second."""

LEASES_S: Final = 1.0
SWEEP_S: Final = 30.0
IDEMPOTENCY_S: Final = 60.0
SHARED_LEVELS_S: Final = 1.0
"""How old a level may be that a budget step follows, where asking for it is a trip to another process."""

PROVIDERS_S: Final = 5.0
"""How long a start waits for a first word of the providers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything the application is made of. `local_now` tells the time in the policy's zone.

    `counters` are None where this process counts in its own memory, which cannot be away.
    """

    edge: Edge
    in_force: InForce
    keyring: Keyring
    caches: Caches
    purse: Purse
    counters: GuardedCounters | None
    ledger: LedgerWriter
    metrics: Metrics
    reports: LedgerReports
    sign_in: SignIn
    desk: Desk
    clerk: Clerk
    feedback: FeedbackDesk
    log: FilteringBoundLogger
    now: Callable[[], datetime]
    local_now: Callable[[], datetime]


@asynccontextmanager
async def open_services(settings: Settings, env: Mapping[str, str], *, alone: bool = True) -> AsyncGenerator[Services]:
    """Open the services of one gateway process; one that is not `alone` has a parent that keeps the home.

    Raises:
        HomeInUse: another gateway serves from this home.
        PolicyInvalid: the policy file is no policy, and none was in force before.
        StoreUnavailable: the database cannot be opened.
    """
    async with AsyncExitStack() as stack:
        log = open_log(settings.log_level)
        home = make_home(settings.home)
        if alone:
            stack.enter_context(lock(home, settings.port))
        database = await _open_database(settings.database, stack)
        standing = await start(database, settings.policy_file, env, _now())
        say_policy(log, standing)
        keyring = Keyring()
        await refresh(keyring, database)
        await keep_demo_key(home, database, keyring, standing.policy, _now())
        ledger = await stack.enter_async_context(LedgerWriter(database, home.spool))
        counters = open_counters(
            redis_url=settings.redis_url,
            database_url=settings.database,
            workers=settings.workers,
            on_away="closed",
            silence_s=settings.store_silence_s,
        )
        guard = counters if isinstance(counters, GuardedCounters) else None
        purse = Purse(counters, ledger, time, levels_for_s=0.0 if guard is None else SHARED_LEVELS_S)
        caches = open_caches(settings, database, log, stack, now=_now, ticks=perf_counter, new_id=_request_id)
        places = Bundled()
        stack.push_async_callback(places.close)
        metrics, calibrations = Metrics(), Calibrations(home.counting)
        stack.push_async_callback(calibrations.save)
        idempotent, sessions = IdempotentAnswers(database), SessionLabels(database)
        composer = Composer(
            keyring=keyring,
            purse=purse,
            database=database,
            answers=caches.answers,
            refresh=caches.refreshing.begin,
            semantics=caches.semantics,
            lessons=caches.teacher,
            places=places,
            router=OpenRouter(home.router),
            calibrations=calibrations,
            idempotent=idempotent,
            sessions=sessions,
            decisions=DecisionLog(database),
            now=_now,
            measures=open_measures(database, stack),
            metrics=metrics,
            log=log,
        )
        providers = await stack.enter_async_context(Providers(settings.engine, log))
        in_force = await _first_reign(standing, composer, providers)
        await stack.enter_async_context(caches.running(in_force))
        obey_when_away(in_force.governed, ledger, guard)
        teach = await fill(purse, guard, in_force, keyring, database, ledger, stack, _now)
        services = _compose(
            settings, env, home, database, keyring, ledger, purse, guard, metrics, in_force, caches, log
        )
        succession = Succession(
            in_force=in_force,
            keyring=keyring,
            composer=composer,
            providers=providers,
            database=database,
            ledger=ledger,
            counters=guard,
            purse=purse,
            env=env,
            now=_now,
            log=log,
        )

        leases = Leases(purse, database, teach, time)

        async def follow() -> None:
            if await succession.look():
                await keep_demo_key(home, database, keyring, in_force.governed.policy, _now())

        stack.push_async_exit(
            await rounds(
                log,
                (LOOK_S, "policy", follow),
                (KEYS_S, "keys", lambda: refresh(keyring, database)),
                (LEASES_S, "leases", leases.end),
                (SAVE_S, "counting", calibrations.save),
                (IDEMPOTENCY_S, "idempotency keys", lambda: idempotent.sweep(_now())),
                (SESSIONS_S, "sessions", lambda: sessions.sweep(_now() - SESSIONS_KEPT)),
                composer.measures.round,
                *caches.rounds(in_force),
                *(() if guard is None else ((SWEEP_S, "open requests", leases.sweep),)),
                *await open_alerts(home, in_force, keyring, purse, database, log, stack),
                *await open_deferred(
                    services.edge, database, log, partial(secrets.token_hex, 12), sole=guard is None, stack=stack
                ),
            )
        )
        yield services


async def _first_reign(standing: Standing, composer: Composer, providers: Providers) -> InForce:
    policy = standing.policy
    lease = await providers.lease(policy.document, policy.unavailable, PROVIDERS_S)
    return InForce(Reign(standing.id, composer.compose(policy, lease.upstreams), lease), standing.trouble)


def _compose(
    settings: Settings,
    env: Mapping[str, str],
    home: Home,
    database: Database,
    keyring: Keyring,
    ledger: LedgerWriter,
    purse: Purse,
    counters: GuardedCounters | None,
    metrics: Metrics,
    in_force: InForce,
    caches: Caches,
    log: FilteringBoundLogger,
) -> Services:
    given = settings.admin_key.get_secret_value() if settings.admin_key else None
    clerk, traffic = Clerk(in_force, database, _now, secrets.token_bytes), Traffic()
    metrics.in_flight.set_function(lambda: traffic.interactive)
    access = Access(database, given or admin_key(home, secrets.token_bytes), time)
    return Services(
        edge=Edge(
            keyring=keyring,
            in_force=in_force,
            metrics=metrics,
            traffic=traffic,
            later=Acceptance(database=database, new_id=partial(clerk.new_id, "batch_")),
            now=_now,
            ticks=perf_counter,
            new_id=_request_id,
        ),
        in_force=in_force,
        keyring=keyring,
        caches=caches,
        purse=purse,
        counters=counters,
        ledger=ledger,
        metrics=metrics,
        reports=LedgerReports(database),
        sign_in=SignIn(people=access, secret=session_secret(home, secrets.token_bytes), clock=time),
        desk=Desk(
            access=access,
            database=database,
            in_force=in_force,
            env=env,
            shade=ShadeReports(settings.database, env, _now),
            learn_keys=lambda: refresh(keyring, database),
            now=_now,
            random_bytes=secrets.token_bytes,
        ),
        clerk=clerk,
        feedback=FeedbackDesk(in_force=in_force, database=database, ledger=ledger, teacher=caches.teacher, now=_now),
        log=log,
        now=_now,
        local_now=lambda: datetime.now(in_force.governed.timezone),
    )


async def _open_database(url: str, stack: AsyncExitStack) -> Database:
    await asyncio.to_thread(upgrade, url)
    database = open_database(url)
    stack.push_async_callback(database.close)
    return database


def _now() -> datetime:
    return datetime.now(UTC)


def _request_id() -> str:
    return f"req_{secrets.token_hex(12)}"
