"""Ledger values as rows: the one place where a fact meets its column."""

from typing import Final

from msgspec.structs import asdict

from governance.ledger.events import LedgerAttempt, LedgerEvent
from governance.ledger.tables import micros
from governance.prices import Usage

Row = dict[str, str | int | float | None]

_NO_USAGE: Final[Row] = dict.fromkeys(Usage.__struct_fields__)


def event_row(event: LedgerEvent) -> Row:
    """The columns of `ledger_event`."""
    opening, settlement, who = event.opening, event.settlement, event.opening.attribution
    return {
        "kind": event.kind.value,
        "at": micros(opening.at),
        "request_id": opening.request_id,
        "team": who.team,
        "app": who.app,
        "feature": who.feature,
        "workflow": who.workflow,
        "model": opening.model,
        "segment": who.segment,
        "environment": who.environment,
        "session": who.session,
        "key_id": opening.key_id,
        "end_user": who.user,
        "endpoint": opening.endpoint,
        "stream": opening.stream,
        "provider": opening.provider,
        "route": opening.route,
        "cache": opening.cache,
        "context": opening.context,
        "outcome": settlement.outcome if settlement else "",
        "code": event.code,
        "status": event.status,
        **_usage_row(settlement.usage if settlement else None),
        "estimated": settlement.estimated if settlement else False,
        "attempts": len(settlement.attempts) if settlement else 0,
        "held_nanos": event.held.nanos,
        "cost_nanos": event.cost.nanos,
        "saved_cache_nanos": settlement.saved_cache.nanos if settlement else 0,
        "saved_routing_nanos": settlement.saved_routing.nanos if settlement else 0,
        "saved_prefix_nanos": settlement.saved_prefix.nanos if settlement else 0,
        "saved_context_nanos": settlement.saved_context.nanos if settlement else 0,
        "policy_version": opening.policy_version,
        "duration_ms": event.duration_ms,
        "first_token_ms": settlement.first_token_ms if settlement else None,
        "lease_until": None if event.lease_until is None else round(event.lease_until * 1_000_000),
        "zone": opening.zone,
        "labels": opening.labels,
    }


def attempt_row(entry: LedgerAttempt) -> Row:
    """The columns of `ledger_attempt`."""
    attempt, price = entry.attempt, entry.attempt.price
    return {
        "request_id": entry.request_id,
        "n": entry.n,
        "at": micros(attempt.at),
        "purpose": attempt.purpose,
        "provider": attempt.provider,
        "model": attempt.model,
        "upstream_model": attempt.upstream_model,
        "outcome": attempt.outcome,
        "status": attempt.status,
        **_usage_row(attempt.usage),
        **{f"price_{name}_nanos": None if rate is None else rate.nanos for name, rate in price.rates.items()},
        "price_source": price.source,
        "cost_nanos": attempt.cost.nanos,
        "saved_prefix_nanos": attempt.saved_prefix.nanos,
        "prefix_wrote": attempt.prefix_wrote,
        "prefix_read": attempt.prefix_read,
        "duration_ms": attempt.duration_ms,
        "zone": attempt.zone,
    }


def _usage_row(usage: Usage | None) -> Row:
    return _NO_USAGE if usage is None else asdict(usage)
