"""The application: every path, and what answers it. Pure: it is made of services that somebody else opened."""

from collections.abc import Callable
from datetime import datetime

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Route

from dashboards.app import router as dashboard_router
from gateway import __version__
from gateway.endpoints.admin.application import admin_app
from gateway.endpoints.batches import batches_router
from gateway.endpoints.conversation import conversations
from gateway.endpoints.counts import CountEndpoint
from gateway.endpoints.embeddings import EmbeddingEndpoint
from gateway.endpoints.feedback import feedback_router
from gateway.endpoints.files import files_router
from gateway.endpoints.models import models_router
from gateway.endpoints.operator import operator_router
from gateway.endpoints.usage import usage_router
from gateway.services import Services
from gateway.wire.errors import STATUS, Shape, error_body, error_headers, error_object, shape_of


def create_app(services: Services) -> FastAPI:
    """Return the application over `services`."""
    app = FastAPI(title="Sluice", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    edge, in_force, now = services.edge, services.in_force, services.now
    app.router.routes += [
        *(Route(path, endpoint, methods=["POST"]) for path, endpoint in conversations(edge).items()),
        Route("/v1/messages/count_tokens", CountEndpoint(edge), methods=["POST"]),
        Route("/v1/embeddings", EmbeddingEndpoint(edge), methods=["POST"]),
    ]
    app.include_router(models_router(in_force, now))
    app.include_router(usage_router(in_force, services.purse, now))
    app.include_router(feedback_router(services.feedback))
    app.include_router(files_router(services.clerk))
    app.include_router(batches_router(services.clerk))
    app.include_router(
        operator_router(in_force, services.ledger, services.metrics, services.counters, services.caches.semantics)
    )
    admin = admin_app(services.desk, services.caches)
    _shape_errors(admin, now)
    app.mount("/admin/api", admin)
    app.include_router(dashboard_router(services.reports, services.sign_in, services.local_now))
    _shape_errors(app, now)
    return app


def _shape_errors(app: FastAPI, now: Callable[[], datetime]) -> None:
    """Give the framework's routes the same error bodies as the hot ones."""

    async def ours(request: Request, error: Exception) -> JSONResponse:
        del request
        headers = {name.decode(): value.decode() for name, value in error_headers(error, now())}
        return JSONResponse(error_body(error), shape_of(error).status, headers)

    async def framework(request: Request, error: Exception) -> JSONResponse:
        status = error.status_code if isinstance(error, HTTPException) else 400
        reason = {404: "There is nothing at", 405: "This method is not allowed at"}.get(status, "Bad request to")
        message = _fault(error) if isinstance(error, RequestValidationError) else f"{reason} {request.url.path}."
        code = {404: "not_found", 405: "method_not_allowed"}.get(status, "invalid_request_error")
        return JSONResponse(
            error_object(Shape(status, code, retry=False), message), status, {"x-should-retry": "false"}
        )

    for kind in (*STATUS, Exception):
        app.add_exception_handler(kind, ours)
    app.add_exception_handler(HTTPException, framework)
    app.add_exception_handler(RequestValidationError, framework)


def _fault(error: RequestValidationError) -> str:
    """Name the first place that is wrong, and how; what stands there is not repeated."""
    first = error.errors()[0]
    place = ".".join(str(step) for step in first["loc"][1:]) or str(first["loc"][0])
    return f"{place}: {first['msg'].removeprefix('Value error, ')}."
