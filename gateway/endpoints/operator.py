"""For operators: `/healthz` (alive), `/readyz` (truthful) and `/metrics` (Prometheus)."""

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from gateway.catalogue import Catalogue
from gateway.operations.metrics import Metrics
from governance.counters.guarded import GuardedCounters
from governance.ledger.writer import LedgerWriter


def operator_router(
    catalogue: Catalogue, ledger: LedgerWriter, metrics: Metrics, counters: GuardedCounters | None
) -> APIRouter:
    """Return the routes; none of them needs a key, and none tells of a caller."""
    router = APIRouter(include_in_schema=False)

    @router.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @router.get("/readyz")
    async def readyz() -> JSONResponse:
        reasons = ["The ledger cannot be written."] if ledger.behind else []
        if not catalogue.serves_chat():
            reasons.append("No chat model can be called.")
        if counters is not None and counters.refuses:
            reasons.append(f"The counters are away: {counters.away}.")
        body = {
            "status": "not ready" if reasons else "ready",
            "reasons": reasons,
            "unavailable": catalogue.unavailable() | _away(counters),
        }
        return JSONResponse(body, 503 if reasons else 200, {"cache-control": "no-store"})

    @router.get("/metrics")
    async def show_metrics() -> Response:
        health = ledger.health
        metrics.ledger_queue.set(health.queued)
        metrics.ledger_dropped.set(health.refusals_dropped)
        metrics.ledger_rejected.set(health.rejected)
        for name, available in catalogue.availability().items():
            metrics.provider_up.labels(name).set(available)
        return Response(metrics.page(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return router


def _away(counters: GuardedCounters | None) -> dict[str, str]:
    return {} if counters is None or counters.away is None else {"counters": counters.away}
