"""The admin API as an application of its own, so that its OpenAPI speaks of nothing else."""

from fastapi import FastAPI

from gateway import __version__
from gateway.caching.caches import Caches
from gateway.endpoints.admin.caches import caches_router
from gateway.endpoints.admin.desk import Desk
from gateway.endpoints.admin.keys import keys_router
from gateway.endpoints.admin.people import people_router
from gateway.endpoints.admin.policy import policy_router
from gateway.endpoints.admin.records import records_router


def admin_app(desk: Desk, caches: Caches) -> FastAPI:
    """Return the application, to be mounted at `/admin/api`."""
    app = FastAPI(title="Sluice admin API", version=__version__, docs_url=None, redoc_url=None)
    app.state.desk = desk
    for router in (
        people_router(desk),
        keys_router(desk),
        policy_router(desk),
        records_router(desk),
        caches_router(desk, caches),
    ):
        app.include_router(router)
    return app
