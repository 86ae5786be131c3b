"""`GET /v1/models` and `/v1/models/{id}`: what this caller may ask for."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request

from gateway.errors import ModelNotFound
from gateway.governing.governed import Governed
from gateway.governing.in_force import InForce
from gateway.steps.admission import Admitted
from gateway.wire.request.attribution import read_offered
from gateway.wire.request.controls import credential, read_headers


def entitled(request: Request, governed: Governed, now: Callable[[], datetime]) -> Admitted:
    """Return who asks a plain GET, and what it may do.

    Raises:
        Unauthenticated: the key opens nothing.
    """
    headers = read_headers(request.headers.raw)
    caller = governed.admission.identify(credential(headers), now())
    return governed.admission.admit(caller, read_offered(headers, None, None))


def models_router(in_force: InForce, now: Callable[[], datetime]) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/v1", include_in_schema=False)

    def reachable(request: Request) -> list[tuple[str, tuple[str, ...]]]:
        governed = in_force.governed
        return governed.catalogue.reachable(entitled(request, governed, now).grant)

    @router.get("/models")
    async def list_models(request: Request) -> dict[str, Any]:
        return {"object": "list", "data": [_entry(*found) for found in reachable(request)]}

    @router.get("/models/{name:path}")
    async def show_model(request: Request, name: str) -> dict[str, Any]:
        found = next((found for found in reachable(request) if found[0] == name), None)
        if found is None:
            raise ModelNotFound(f"There is no model or route named {name!r}.", name)
        return _entry(*found)

    return router


def _entry(name: str, providers: tuple[str, ...]) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": ",".join(providers)}
