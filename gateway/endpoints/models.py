"""`GET /v1/models` and `/v1/models/{id}`: what this caller may ask for."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request

from gateway.catalogue import Catalogue
from gateway.errors import ModelNotFound
from gateway.steps.admission import Admission, Entitled
from gateway.wire.request.attribution import read_offered
from gateway.wire.request.controls import credential, read_headers


def entitled(request: Request, admission: Admission, now: Callable[[], datetime]) -> Entitled:
    """Return who asks a plain GET, and what it may do.

    Raises:
        Unauthenticated: the key opens nothing.
    """
    headers = read_headers(request.headers.raw)
    caller = admission.identify(credential(headers), now())
    return admission.entitle(caller, read_offered(headers, None, None))


def models_router(catalogue: Catalogue, admission: Admission, now: Callable[[], datetime]) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/v1", include_in_schema=False)

    @router.get("/models")
    async def list_models(request: Request) -> dict[str, Any]:
        grant = entitled(request, admission, now).grant
        return {"object": "list", "data": [_entry(*found) for found in catalogue.reachable(grant)]}

    @router.get("/models/{name:path}")
    async def show_model(request: Request, name: str) -> dict[str, Any]:
        grant = entitled(request, admission, now).grant
        found = next((found for found in catalogue.reachable(grant) if found[0] == name), None)
        if found is None:
            raise ModelNotFound(f"There is no model or route named {name!r}.", name)
        return _entry(*found)

    return router


def _entry(name: str, providers: tuple[str, ...]) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": ",".join(providers)}
