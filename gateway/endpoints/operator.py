"""For operators: `/healthz` (alive), `/readyz` (truthful), `/metrics` (Prometheus), and the way to the dashboard."""

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse, RedirectResponse

from gateway.caching.semantics import OpenSemantics
from gateway.governing.in_force import InForce
from gateway.operations.metrics import Metrics
from governance.counters.guarded import GuardedCounters
from governance.ledger.writer import LedgerWriter


def operator_router(
    in_force: InForce,
    ledger: LedgerWriter,
    metrics: Metrics,
    counters: GuardedCounters | None,
    semantics: OpenSemantics,
) -> APIRouter:
    """Return the routes. None needs a key: keep them from the public, for metrics name teams and what they spend."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    async def home() -> RedirectResponse:
        return RedirectResponse("/admin", 303)

    @router.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @router.get("/readyz")
    async def readyz() -> JSONResponse:
        governed = in_force.governed
        catalogue, reasons = governed.catalogue, list(ledger.health.reasons)
        if not catalogue.serves_chat():
            reasons.append("No chat model can be called.")
        if counters is not None and counters.refuses:
            reasons.append(f"The counters are away: {counters.away}.")
        body = {
            "status": "not ready" if reasons else "ready",
            "reasons": reasons,
            "unavailable": catalogue.unavailable() | _away(counters, semantics),
            "unavailable_models": catalogue.unavailable_models(),
            "policy": {"version": governed.policy.version, "trouble": in_force.trouble or None},
        }
        return JSONResponse(body, 503 if reasons else 200, {"cache-control": "no-store"})

    @router.get("/metrics")
    async def show_metrics() -> Response:
        _observe(metrics, in_force, ledger)
        _observe_semantics(metrics, semantics)
        return Response(metrics.page(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return router


def _observe(metrics: Metrics, in_force: InForce, ledger: LedgerWriter) -> None:
    """Bring up to date what is told as it stands when asked."""
    health = ledger.health
    metrics.ledger_queue.set(health.queued)
    metrics.ledger_dropped.set(health.refusals_dropped)
    metrics.ledger_rejected.set(health.rejected)
    metrics.ledger_lost.set(health.lost + health.damaged)
    metrics.ledger_oldest.set(health.oldest_s)
    metrics.ledger_journal.set(health.journal_bytes)
    metrics.policy.clear()
    metrics.policy.labels(in_force.governed.policy.version).set(1)
    metrics.policy_refused.set(bool(in_force.trouble))
    metrics.estimate_error.clear()
    for model, middling, almost_all in in_force.governed.counting.errors():
        metrics.estimate_error.labels(model, "0.5").set(middling)
        metrics.estimate_error.labels(model, "0.95").set(almost_all)
    metrics.provider_up.clear()
    for name, available in in_force.governed.catalogue.availability().items():
        metrics.provider_up.labels(name).set(available)


def _observe_semantics(metrics: Metrics, semantics: OpenSemantics) -> None:
    metrics.semantic_open.clear()
    metrics.semantic_error.clear()
    for feature, standing in semantics.standings().items():
        metrics.semantic_open.labels(feature).set(standing.open and semantics.cache is not None)
        metrics.semantic_error.labels(feature, "estimate").set(standing.error)
        metrics.semantic_error.labels(feature, "upper").set(standing.upper)


def _away(counters: GuardedCounters | None, semantics: OpenSemantics) -> dict[str, str]:
    away = {} if counters is None or counters.away is None else {"counters": counters.away}
    return away | ({"semantic cache": semantics.trouble} if semantics.trouble else {})
