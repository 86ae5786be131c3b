"""`/admin/api/cache`: how the caches stand, and orders to forget."""

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, model_validator

from gateway.caching.caches import Caches
from gateway.endpoints.admin.desk import Asking, Desk
from governance.lookups import purges
from governance.lookups.purges import Purge
from governance.people.roles import Right


class FeatureStanding(BaseModel):
    """How the semantic cache of one feature stands; errors are shares of its look-ups."""

    feature: str
    open: bool
    reason: str
    lookups: int
    served: int
    compared: int
    error: float
    error_upper: float


class CacheStanding(BaseModel):
    """How the caches of this process stand; `trouble` says why there is no semantic cache though the policy has one."""

    answers: int
    bytes: int
    trouble: str | None
    features: list[FeatureStanding]


class Forgetting(BaseModel):
    """What to forget: every answer, those with a tag, the one under a key, or those to questions like one."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["all", "tag", "key", "like"]
    value: Annotated[str, Field(max_length=1_000)] = ""
    similarity: Annotated[float, Field(gt=0, le=1)] = 0.95

    @model_validator(mode="after")
    def _complete(self) -> "Forgetting":
        if (self.kind == "all") == bool(self.value):
            raise ValueError("value should say which, and be absent for all")
        if self.kind == "key" and not _is_digest(self.value):
            raise ValueError("value should be a fingerprint of 64 hexadecimal digits")
        return self


def caches_router(desk: Desk, caches: Caches) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/cache", tags=["cache"])

    @router.get("", summary="How the caches of this process stand.")
    async def stand(person: Asking) -> CacheStanding:
        person.require(Right.SEE_SPEND)
        size = await caches.answers.size()
        features = [
            FeatureStanding(
                feature=feature,
                open=standing.open,
                reason=standing.reason.value,
                lookups=standing.lookups,
                served=standing.hits,
                compared=standing.audited,
                error=standing.error,
                error_upper=standing.upper,
            )
            for feature, standing in caches.semantics.standings().items()
            if person.team in (None, feature.partition("/")[0])
        ]
        trouble = caches.semantics.trouble or None
        return CacheStanding(answers=size.entries, bytes=size.bytes, trouble=trouble, features=features)

    @router.post("/purge", status_code=202, summary="Forget stored answers, in every process, within a second.")
    async def forget(person: Asking, what: Forgetting) -> None:
        person.require(Right.CHANGE_POLICY)
        similarity = what.similarity if what.kind == "like" else 0.0
        order = Purge(at=desk.now(), kind=what.kind, value=what.value, similarity=similarity, by=person.actor.name)
        await purges.order(desk.database, order, person.actor)

    return router


def _is_digest(text: str) -> bool:
    try:
        return len(bytes.fromhex(text)) == 32  # noqa: PLR2004  SHA-256
    except ValueError:
        return False
