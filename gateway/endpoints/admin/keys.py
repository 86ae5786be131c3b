"""`/admin/api/keys`: keys of applications."""

from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from gateway.endpoints.admin.desk import Asking, Desk, Plain
from gateway.operations.key_terms import read_terms, require_app
from governance.identity import KeyRecord
from governance.keys import create_key, list_keys, revoke_key, rotate_key
from governance.people.roles import Right

Budgets = Annotated[list[Plain], Field(max_length=20, examples=[["5/day", "1/24h", "50/month"]])]
_TEN_YEARS_S = 3650 * 86400


class NewKey(BaseModel):
    """A key to be made; tiers, models and budgets narrow what the policy grants its app."""

    model_config = ConfigDict(extra="forbid")

    team: Plain
    app: Plain
    feature: Plain | None = None
    name: Plain | None = None
    expires_in_s: Annotated[int, Field(gt=0, le=_TEN_YEARS_S)] | None = None
    tiers: Annotated[list[Plain], Field(max_length=100)] = []
    models: Annotated[list[Plain], Field(max_length=100)] = []
    budgets: Budgets = []


class Rotation(BaseModel):
    """How long the old secret stays good."""

    model_config = ConfigDict(extra="forbid")

    overlap_s: Annotated[int, Field(ge=0, le=_TEN_YEARS_S)] = 86400


class KeyFacts(BaseModel):
    """Everything of a key but its secret; budgets as they were written, in USD for a window."""

    id: str
    team: str
    app: str
    feature: str | None
    name: str | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    tiers: list[str] | None
    models: list[str] | None
    budgets: list[str]


class MadeKey(BaseModel):
    """A key's secret, shown this once."""

    id: str
    key: str
    previous_until: datetime | None = None


def keys_router(desk: Desk) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/keys", tags=["keys"])

    @router.get("", summary="List keys, the newest first.")
    async def list_(person: Asking, team: Plain | None = None) -> list[KeyFacts]:
        person.require(Right.SEE_KEYS, team)
        return [facts_of(record) for record in await list_keys(desk.database, team or person.team)]

    @router.post("", status_code=201, summary="Make a key.")
    async def create(person: Asking, wanted: NewKey) -> MadeKey:
        person.require(Right.CHANGE_KEYS, wanted.team)
        require_app(desk.policy, wanted.team, wanted.app)
        at = desk.now()
        minted = await create_key(
            desk.database,
            team=wanted.team,
            app=wanted.app,
            feature=wanted.feature,
            name=wanted.name,
            expires_at=None if wanted.expires_in_s is None else at + timedelta(seconds=wanted.expires_in_s),
            terms=read_terms(desk.policy, wanted.tiers, wanted.models, wanted.budgets),
            by=person.actor,
            now=at,
            random_bytes=desk.random_bytes,
        )
        await desk.learn_keys()
        return MadeKey(id=minted.public_id, key=minted.key)

    @router.post("/{key_id}/rotate", summary="Give a key a new secret.")
    async def rotate(person: Asking, key_id: Plain, rotation: Rotation) -> MadeKey:
        person.require(Right.CHANGE_KEYS)
        at, overlap = desk.now(), timedelta(seconds=rotation.overlap_s)
        minted = await rotate_key(
            desk.database,
            key_id,
            overlap=overlap,
            team=person.team,
            by=person.actor,
            now=at,
            random_bytes=desk.random_bytes,
        )
        await desk.learn_keys()
        return MadeKey(id=key_id, key=minted.key, previous_until=at + overlap)

    @router.delete("/{key_id}", status_code=204, summary="Close a key for good.")
    async def revoke(person: Asking, key_id: Plain) -> None:
        person.require(Right.CHANGE_KEYS)
        await revoke_key(desk.database, key_id, team=person.team, by=person.actor, now=desk.now())
        await desk.learn_keys()

    return router


def facts_of(record: KeyRecord) -> KeyFacts:
    """Say everything of a key but its secret."""
    caller, terms = record.caller, record.caller.terms
    return KeyFacts(
        id=caller.key_id,
        team=caller.team,
        app=caller.app,
        feature=caller.feature,
        name=caller.name,
        created_at=record.created_at,
        expires_at=record.expires_at,
        revoked_at=record.revoked_at,
        tiers=None if terms.tiers is None else list(terms.tiers),
        models=None if terms.models is None else list(terms.models),
        budgets=[f"{budget.limit.usd}/{budget.window.value}" for budget in terms.budgets],
    )
