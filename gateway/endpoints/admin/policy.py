"""`/admin/api/policy`: the policy in force, its history, and how another one takes its place."""

import asyncio
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from gateway.endpoints.admin.desk import Asking, Desk
from gateway.policy.history.applying import History
from gateway.policy.history.masking import masked
from gateway.policy.history.reading import facts_of, find
from gateway.policy.source import parse_policy
from governance.people.roles import Person, Right
from governance.policy import history
from governance.policy.history import Mode, Written

SOURCE = "admin API"
_LONGEST = 1_000_000
Limit = Annotated[int, Query(ge=1, le=1000)]
Note = Annotated[str, Field(max_length=1000)]


class NewPolicy(BaseModel):
    """A policy to be put in force, as YAML; with `shadow` it is only tried beside the one in force."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(min_length=1, max_length=_LONGEST)]
    shadow: bool = False
    note: Note = ""


class Rollback(BaseModel):
    """Which version is to govern again, by its first digits; None for the one before the policy in force."""

    model_config = ConfigDict(extra="forbid")

    version: Annotated[str, Field(min_length=1, max_length=12)] | None = None
    note: Note = ""


class PolicyFacts(BaseModel):
    """One decision about the policy: `active` ones put it in force, `shadow` ones beside the one in force."""

    id: int
    at: datetime
    mode: Mode
    version: str
    source: str
    by: str
    role: str
    note: str


class PolicyText(PolicyFacts):
    """A policy of the history, secrets masked; `trouble` says why this gateway does not obey the newest one."""

    text: str
    trouble: str | None = None


class PolicyChange(PolicyFacts):
    """What was decided, the version in force before, and every difference to it."""

    before: str | None
    changes: list[str]


def policy_router(desk: Desk) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/policy", tags=["policy"])

    def deciding(person: Person) -> History:
        person.require(Right.CHANGE_POLICY)
        return History(desk.database, desk.env, person.actor)

    @router.get("", summary="Show the policy in force, or one of the past by the first digits of its version.")
    async def show(person: Asking, version: str | None = None) -> PolicyText | None:
        person.require(Right.SEE_POLICY)
        return await _text(desk, version)

    @router.get("/history", summary="List which policy was put in force when, and by whom, the newest first.")
    async def list_(person: Asking, limit: Limit = 100, before: int | None = None) -> list[PolicyFacts]:
        person.require(Right.SEE_POLICY)
        return [
            PolicyFacts(**facts_of(applied)) for applied in await history.listed(desk.database, limit, before=before)
        ]

    @router.post("", status_code=201, summary="Put a policy in force, in every gateway within a second.")
    async def apply(person: Asking, wanted: NewPolicy) -> PolicyChange:
        decides, at = deciding(person), desk.now()
        policy = await asyncio.to_thread(parse_policy, wanted.text, SOURCE, desk.env, at)
        written = Written(policy.version, wanted.text, SOURCE)
        return PolicyChange(
            **(await decides.apply(written, policy, at, shadow=wanted.shadow, note=wanted.note)).facts()
        )

    @router.post("/rollback", status_code=201, summary="Put a policy of the past in force again.")
    async def roll_back(person: Asking, wanted: Rollback) -> PolicyChange:
        return PolicyChange(**(await deciding(person).roll_back(wanted.version, desk.now(), wanted.note)).facts())

    @router.get("/shadow", summary="Say what the policy in the shade would have done, or the last one there was.")
    async def shadow(person: Asking) -> dict[str, Any] | None:
        person.require(Right.SEE_POLICY)
        return await desk.shade.latest()

    @router.delete("/shadow", status_code=204, summary="Try no policy beside the one in force any more.")
    async def end_shadow(person: Asking) -> None:
        await deciding(person).end_shadow(desk.now())

    return router


async def _text(desk: Desk, version: str | None) -> PolicyText | None:
    if version is None:
        applied = await history.newest(desk.database, Mode.ACTIVE)
    else:
        applied = await find(desk.database, version)
    if applied is None:
        return None
    trouble = desk.in_force.trouble if version is None else ""
    text = await asyncio.to_thread(masked, applied.policy.text)
    return PolicyText(**facts_of(applied), text=text, trouble=trouble or None)
