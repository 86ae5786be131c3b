"""`GET /v1/usage`: the caller's own budgets, limits, spend and reset times."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request

from gateway.endpoints.models import entitled
from gateway.governing.in_force import InForce
from governance.errors import StoreUnavailable
from governance.ledger.reading.outlooks import look_ahead
from governance.limits import Standing
from governance.limits.forecast import Outlook
from governance.purse import Purse


def usage_router(in_force: InForce, purse: Purse, now: Callable[[], datetime]) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix="/v1", include_in_schema=False)

    @router.get("/usage")
    async def usage(request: Request) -> dict[str, Any]:
        governed, at = in_force.governed, now()
        asker, tz = entitled(request, governed, now), governed.timezone
        budgets = [budget for budget in asker.grant.budgets if budget.each is None]
        standings = await purse.standing(budgets, at, tz)
        if len(standings) < len(budgets):
            raise StoreUnavailable("the counters are away")  # no budget shown would read as no budget at all
        ahead = await look_ahead(governed.daily, standings, at, tz)
        return {
            "object": "usage",
            "key_id": asker.caller.key_id,
            "team": asker.caller.team,
            "app": asker.caller.app,
            "tiers": list(asker.grant.tiers),
            "budgets": [_budget(*budget) for budget in ahead],
            "limits": [asdict(rate) for rate in asker.grant.rates],
        }

    return router


def _budget(standing: Standing, outlook: Outlook | None) -> dict[str, Any]:
    best = None if outlook is None else outlook.best
    return {
        "scope": standing.scope,
        "window": standing.window.value,
        "limit_usd": standing.limit.usd,
        "spent_usd": standing.settled.usd,
        "held_usd": standing.held.usd,
        "remaining_usd": standing.remaining.usd,
        "resets_at": standing.resets_at,
        "forecast_usd": None if best is None else best.amount.usd,
        "forecast_by": None if best is None else best.by,
        "runs_out_at": None if best is None else best.runs_out_at,
    }
