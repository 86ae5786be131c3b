"""Everything in this process that depends on the policy, composed into one frozen value."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from random import random
from time import perf_counter, time
from typing import Any
from zoneinfo import ZoneInfo

from structlog.typing import FilteringBoundLogger

from cache.answers import AnswerCache
from cache.epoch import epoch
from cache.prefix.memory import PrefixMemory
from cache.prefix.ordering import ToolOrders
from gateway.alerting.receivers import receivers_of
from gateway.alerting.watching import Receivers
from gateway.attempts.course import Persistence
from gateway.attempts.deployments import Deployments
from gateway.catalogue import Catalogue, Measured, Model
from gateway.chat import ChatService
from gateway.context.contexts import Contexts
from gateway.context.meanings import Nearness
from gateway.context.measures import Measures
from gateway.counting.calibrations import Calibrations
from gateway.counting.tally import Counting
from gateway.counts import CountService
from gateway.embeddings import EmbeddingService
from gateway.operations.metrics import Metrics
from gateway.policy.source import LoadedPolicy
from gateway.prefix.families import families_of
from gateway.prefix.prefixing import Prefixing
from gateway.providers.upstream import Upstream
from gateway.steps.accounts import Accounts
from gateway.steps.admission import Admission, Asked
from gateway.steps.confining import Confining
from gateway.steps.guarding.compiling import compiled
from gateway.steps.guarding.guarding import Guarding
from gateway.steps.guarding.meanings import MeaningRules, Places
from gateway.steps.purchasing import Purchasing
from gateway.steps.reuse.idempotency import OnceOnly
from gateway.steps.reuse.meaning import Lessons, Meaning, Semantics
from gateway.steps.reuse.slot import ExactCache
from gateway.steps.routing import OpenRouter, Routing
from governance.alerts.steps import Watch, watches_of
from governance.confinement.confined import UNRULED
from governance.confinement.decisions import DecisionLog
from governance.confinement.sessions import SessionLabels
from governance.counters.alone import OnAway
from governance.database import Database
from governance.idempotency.answers import IdempotentAnswers
from governance.identity import Keyring
from governance.ledger.reading.history import DailySpend
from governance.limits.loops import LoopGuard
from governance.policy.sections import Allowance
from governance.purse import Purse
from router_models.deciding import Sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class Governed:
    """What one policy makes of this process.

    Attributes:
        policy: the policy.
        daily: what past days have cost, on the policy's calendar.
        watches: its budgets with the steps that alert.
        receivers: where a team's alerts go.
    """

    policy: LoadedPolicy
    accounts: Accounts
    admission: Admission
    catalogue: Catalogue
    counting: Counting
    chat: ChatService
    embeddings: EmbeddingService
    counts: CountService
    daily: DailySpend
    watches: tuple[Watch, ...]
    receivers: Receivers

    @property
    def timezone(self) -> ZoneInfo:
        """The zone whose calendar bounds the windows of budgets."""
        return self.policy.rules.timezone

    @property
    def total_s(self) -> float:
        """How long a request may take that sets no limit of its own, in seconds."""
        return self.policy.document.reliability.timeouts_of(None).total_s

    @property
    def when_away(self) -> OnAway:
        """What to do while the counters or the database cannot be reached."""
        rule = self.policy.document.on_store_error
        return rule.allowance_usd if isinstance(rule, Allowance) else rule


@dataclass(frozen=True, kw_only=True)
class Composer:
    """What stays the same under every policy, and how a policy is made of it.

    `refresh` has an answer made anew in the background, `lessons` follow from new answers. `ticks` is a monotonic clock
    in seconds, `chance` gives numbers from 0 up to 1.
    """

    keyring: Keyring
    purse: Purse
    database: Database
    answers: AnswerCache
    refresh: Callable[[Asked[Any], bytes], None]
    semantics: Semantics
    lessons: Lessons
    places: Places
    router: OpenRouter
    calibrations: Calibrations
    idempotent: IdempotentAnswers
    measures: Measures
    sessions: SessionLabels
    decisions: DecisionLog
    metrics: Metrics
    log: FilteringBoundLogger
    now: Callable[[], datetime]
    ticks: Callable[[], float] = perf_counter
    chance: Callable[[], float] = random
    deployments: Deployments = field(default_factory=Deployments)
    prefixes: PrefixMemory = field(default_factory=PrefixMemory)
    tool_orders: ToolOrders = field(default_factory=ToolOrders)
    routed_sessions: Sessions = field(default_factory=Sessions)

    @cached_property
    def nearness(self) -> Nearness:
        """Compares texts by meaning, and remembers them over policies."""
        return Nearness(self.places)

    def compose(self, policy: LoadedPolicy, upstreams: Mapping[str, Upstream]) -> Governed:
        """Compose what depends on a policy, over the open providers it names."""
        document, rules = policy.document, policy.rules
        reliability = document.reliability
        catalogue = Catalogue(
            _models(policy),
            document.routes,
            upstreams,
            document.baseline,
            deployments=self.deployments,
            balance=reliability.balance,
        )
        for model in catalogue.models.values():
            catalogue.deployment(model).breaker.obey(reliability.breaker.rule)
        accounts = Accounts(catalogue, self.log, self.metrics)
        admission = Admission(self.keyring, rules, self.purse, policy.version, accounts)
        sensitivity = document.sensitivity
        confining = Confining(
            rule=UNRULED if sensitivity is None else sensitivity.rule,
            sessions=self.sessions,
            log=self.decisions,
            now=self.now,
        )
        guarding = Guarding(rules=compiled(document.guardrails), meanings=MeaningRules(self.places), accounts=accounts)
        shaping = epoch(document.cache.version, document.output, document.context, document.guardrails)
        meaning = Meaning(
            semantics=self.semantics,
            lessons=self.lessons,
            section=document.cache.semantic,
            catalogue=catalogue,
            epoch=shaping,
            clock=time,
        )
        exact = ExactCache(
            answers=self.answers,
            section=document.cache.exact,
            catalogue=catalogue,
            epoch=shaping,
            refresh=self.refresh,
            ticks=self.ticks,
        )
        counting = Counting(catalogue=catalogue, calibrations=self.calibrations, holds=document.holds)
        purchasing = Purchasing(
            admission=admission,
            catalogue=catalogue,
            counting=counting,
            purse=self.purse,
            accounts=accounts,
            timezone=rules.timezone,
            loops=LoopGuard(rules.loop),
        )
        persistence = Persistence(
            catalogue=catalogue,
            purchasing=purchasing,
            retries=reliability.retries,
            attempts=reliability.attempts,
            hedged=reliability.hedged,
            ticks=self.ticks,
            chance=self.chance,
        )
        once = OnceOnly(self.idempotent, self.ticks, self.log)
        prefixing = Prefixing(
            catalogue=catalogue,
            families={name: families_of(section) for name, section in document.providers.items()},
            section=document.cache.prefix,
            balance=reliability.balance,
            memory=self.prefixes,
            orders=self.tool_orders,
            clock=self.ticks,
            watches=rules.trims(),
        )
        return Governed(
            policy=policy,
            accounts=accounts,
            admission=admission,
            catalogue=catalogue,
            counting=counting,
            chat=ChatService(
                admission=admission,
                confining=confining,
                guarding=guarding,
                once=once,
                catalogue=catalogue,
                exact=exact,
                meaning=meaning,
                routing=Routing(
                    catalogue=catalogue, router=self.router, places=self.places, sessions=self.routed_sessions
                ),
                purchasing=purchasing,
                persistence=persistence,
                prefixing=prefixing,
                contexts=Contexts(
                    counting=counting,
                    catalogue=catalogue,
                    prefixing=prefixing,
                    nearness=self.nearness,
                    measures=self.measures,
                    log=self.log,
                ),
                ticks=self.ticks,
            ),
            embeddings=EmbeddingService(
                admission=admission,
                confining=confining,
                guarding=guarding,
                once=once,
                catalogue=catalogue,
                exact=exact,
                purchasing=purchasing,
                persistence=persistence,
                ticks=self.ticks,
            ),
            counts=CountService(
                admission=admission,
                confining=confining,
                guarding=guarding,
                catalogue=catalogue,
                counting=counting,
                purse=self.purse,
                accounts=accounts,
                ticks=self.ticks,
            ),
            daily=DailySpend(self.database, rules.timezone),
            watches=watches_of(document.budgets, document.teams),
            receivers=receivers_of(document),
        )


def _models(policy: LoadedPolicy) -> list[Model]:
    found: list[Model] = []
    for section in policy.document.models:
        hourly = policy.document.providers[section.provider].machine_usd_per_hour
        measured = Measured(hourly) if section.price == "measured" and hourly is not None else None
        price = measured or policy.tariffs.get(section.name)
        found.append(
            Model(section.name, section.provider, section.model, section.tier, section.kind, price, section.same_as)
        )
    return found
