"""The whole policy document, composed of the engines' own sections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from cache.config import CacheSection
from gateway.policy.models import ModelSection, Provider, UnknownModel
from gateway.policy.reliability import Reliability, Timeouts
from gateway.policy.safeguards import Guardrail, OrgLimits, Sensitivity
from governance.policy.contexts import ContextSection
from governance.policy.rules import Rules, compile_rules
from governance.policy.sections import (
    Alerts,
    DeferredWork,
    Holds,
    Name,
    OnStoreError,
    OutputSection,
    ScopedBudget,
    Section,
    TeamSection,
)
from router_models.config import Label, RouteRule


def _timezone(value: object) -> ZoneInfo:
    if isinstance(value, ZoneInfo):
        return value
    try:
        if isinstance(value, str):
            return ZoneInfo(value)
    except (KeyError, ValueError, OSError):
        pass
    raise PydanticCustomError("timezone", "should be a time zone of the IANA list, such as Europe/London")


TimeZone = Annotated[ZoneInfo, PlainValidator(_timezone), WithJsonSchema({"type": "string", "minLength": 1})]


class Policy(Section):
    """Everything that a platform team decides.

    Attributes:
        version: Of this format.
        currency: Of all amounts.
        timezone: Whose calendar bounds the windows of budgets.
        providers: Who runs models.
        tiers: Classes of models, cheapest first.
        models: The models on offer.
        unknown_model: What to do with a model that has no price.
        routes: Names that stand for a choice of models.
        reliability: What is done when a provider fails or is slow.
        baseline: The model against which savings are counted.
        sensitivity: Where requests with sensitive text may go.
        cache: Which answers are served again.
        context: How much context requests may carry.
        output: What answers may look like, for everyone.
        guardrails: Rules over the text of requests and answers.
        limits: How much may happen at once, over everyone together.
        budgets: Budgets that name their scope.
        holds: How much is held for a request before its cost is known.
        on_store_error: What to do when the counters cannot be reached.
        alerts: Where alerts go that belong to no team.
        deferred: How much deferred work is done beside what people wait for.
        teams: Who may use what.
    """

    version: Literal[1]
    currency: Literal["USD"] = "USD"
    timezone: TimeZone = ZoneInfo("UTC")
    providers: Mapping[Name, Provider]
    tiers: Annotated[tuple[Name, ...], Field(min_length=1)]
    models: tuple[ModelSection, ...]
    unknown_model: UnknownModel = "deny"
    routes: tuple[RouteRule, ...] = ()
    reliability: Reliability = Reliability()
    baseline: Label | None = None
    sensitivity: Sensitivity | None = None
    cache: CacheSection = CacheSection()
    context: ContextSection | None = None
    output: OutputSection | None = None
    guardrails: tuple[Guardrail, ...] = ()
    limits: OrgLimits | None = None
    budgets: tuple[ScopedBudget, ...] = ()
    holds: Holds = Holds()
    on_store_error: OnStoreError = "closed"
    alerts: Alerts | None = None
    deferred: DeferredWork = DeferredWork()
    teams: tuple[TeamSection, ...] = ()

    def features(self, team: str, app: str) -> frozenset[str]:
        """Name the features that the policy has rules of their own for in an app."""
        sections = (section for part in self.teams if part.name == team for section in part.apps if section.name == app)
        return frozenset(feature.name for section in sections for feature in section.features)

    def timeouts(self, provider: str) -> Timeouts:
        """Say how long a provider of the policy is waited for."""
        return self.reliability.timeouts_of(self.providers[provider].timeouts)

    def rules(self) -> Rules:
        """Compile the governing sections."""
        return compile_rules(
            tiers=self.tiers,
            timezone=self.timezone,
            output=self.output,
            context=self.context,
            limits=self.limits,
            budgets=self.budgets,
            teams=self.teams,
            loop=self.limits.loop.rule if self.limits and self.limits.loop else None,
        )
