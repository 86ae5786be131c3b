"""`GET /v1/usage`: the caller's own budgets, limits, spend and reset times."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request

from gateway.endpoints.models import entitled
from gateway.steps.admission import Admission
from governance.limits import Standing
from governance.purse import Purse


def usage_router(admission: Admission, purse: Purse, timezone: ZoneInfo, now: Callable[[], datetime]) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix="/v1", include_in_schema=False)

    @router.get("/usage")
    async def usage(request: Request) -> dict[str, Any]:
        asker = entitled(request, admission, now)
        standings = await purse.standing(asker.grant.budgets, now(), timezone)
        return {
            "object": "usage",
            "key_id": asker.caller.key_id,
            "team": asker.caller.team,
            "app": asker.caller.app,
            "tiers": list(asker.grant.tiers),
            "budgets": [_budget(standing) for standing in standings],
            "limits": [asdict(rate) for rate in asker.grant.rates],
        }

    return router


def _budget(standing: Standing) -> dict[str, Any]:
    return {
        "scope": standing.scope,
        "window": standing.window.value,
        "limit_usd": standing.limit.usd,
        "spent_usd": standing.settled.usd,
        "held_usd": standing.held.usd,
        "remaining_usd": standing.remaining.usd,
        "resets_at": standing.resets_at,
    }
