"""`GET /v1/usage`: the caller's own budgets, limits, spend and reset times."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request

from gateway.endpoints.models import entitled
from gateway.governing.in_force import InForce
from governance.errors import StoreUnavailable
from governance.ledger.reading.history import DailySpend, Days
from governance.limits import Standing
from governance.limits.forecast import Forecast, forecast
from governance.purse import Purse


def usage_router(in_force: InForce, purse: Purse, now: Callable[[], datetime]) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix="/v1", include_in_schema=False)

    @router.get("/usage")
    async def usage(request: Request) -> dict[str, Any]:
        governed, at = in_force.governed, now()
        asker, tz = entitled(request, governed, now), governed.timezone
        standings = await purse.standing(asker.grant.budgets, at, tz)
        ahead = [forecast(stands, await _days(governed.daily, stands.scope, at), at, tz) for stands in standings]
        return {
            "object": "usage",
            "key_id": asker.caller.key_id,
            "team": asker.caller.team,
            "app": asker.caller.app,
            "tiers": list(asker.grant.tiers),
            "budgets": [_budget(*budget) for budget in zip(standings, ahead, strict=True)],
            "limits": [asdict(rate) for rate in asker.grant.rates],
        }

    return router


async def _days(daily: DailySpend, scope: str, at: datetime) -> Days:
    """Return what is known of the days before; without the database the forecast is a straight line."""
    try:
        return await daily.days(scope, at)
    except StoreUnavailable:
        return ()


def _budget(standing: Standing, ahead: Forecast | None) -> dict[str, Any]:
    return {
        "scope": standing.scope,
        "window": standing.window.value,
        "limit_usd": standing.limit.usd,
        "spent_usd": standing.settled.usd,
        "held_usd": standing.held.usd,
        "remaining_usd": standing.remaining.usd,
        "resets_at": standing.resets_at,
        "forecast_usd": None if ahead is None else ahead.amount.usd,
        "runs_out_at": None if ahead is None else ahead.runs_out_at,
    }
