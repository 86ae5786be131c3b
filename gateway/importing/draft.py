"""A policy in the making: what the config says, in the words of a policy."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["chat", "embedding"]


class ProviderDraft(NamedTuple):
    """An entry of `providers`; `fields` are what its kind needs, and may hold `${NAME}`."""

    kind: str
    zone: str
    fields: tuple[tuple[str, str], ...]


class ModelDraft(NamedTuple):
    """An entry of `models`; `rates` are USD per million tokens by their names in a policy, or None for list prices."""

    name: str
    provider: str
    model: str
    kind: Kind
    rates: Mapping[str, Decimal] | None


class RouteDraft(NamedTuple):
    """An entry of `routes`: its models, first choice first."""

    name: str
    models: tuple[str, ...]


class BudgetDraft(NamedTuple):
    """A budget in USD; `each` is the dimension each value of which has it to itself."""

    limit: Decimal
    window: str
    each: str | None = None


class GuardrailDraft(NamedTuple):
    """An entry of `guardrails` that looks for kinds of text."""

    name: str
    on: str
    detect: tuple[str, ...]
    action: str


class ReliabilityDraft(NamedTuple):
    """What of `reliability` is not left at its default; times are whole seconds."""

    retries: int | None
    failures: int | None
    pause_s: int | None
    total_s: int | None


class TeamDraft(NamedTuple):
    """An entry of `teams`, with one app that is called `default`; `limits` by their names in a policy."""

    name: str
    budgets: tuple[BudgetDraft, ...]
    limits: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Everything that carries over.

    Attributes:
        cache_ttl: How long an answer may be served again, as a policy writes it; None for no cache.
        concurrent: The most requests at once, over everyone; None for no limit.
        webhook: Where alerts go; None for nowhere.
    """

    providers: Mapping[str, ProviderDraft]
    models: tuple[ModelDraft, ...]
    routes: tuple[RouteDraft, ...]
    reliability: ReliabilityDraft
    cache_ttl: str | None
    guardrails: tuple[GuardrailDraft, ...]
    concurrent: int | None
    budgets: tuple[BudgetDraft, ...]
    webhook: str | None
    teams: tuple[TeamDraft, ...]
