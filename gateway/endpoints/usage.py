"""`GET /v1/usage`: the caller's own budgets, limits, spend and reset times."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request

from gateway.endpoints.models import entitled
from gateway.steps.admission import Admission
from governance.ledger.reading.history import DailySpend
from governance.ledger.reading.outlooks import look_ahead
from governance.limits import Standing
from governance.limits.forecast import Outlook
from governance.purse import Purse


def usage_router(
    admission: Admission, purse: Purse, history: DailySpend, timezone: ZoneInfo, now: Callable[[], datetime]
) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix="/v1", include_in_schema=False)

    @router.get("/usage")
    async def usage(request: Request) -> dict[str, Any]:
        asker = entitled(request, admission, now)
        at = now()
        standings = await purse.standing(asker.grant.budgets, at, timezone)
        ahead = await look_ahead(history, standings, at, timezone)
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
