"""`/admin/api/people`: who administers, and in which role."""

from datetime import datetime
from typing import Annotated, Self

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, model_validator

from gateway.endpoints.admin.desk import Asking, Desk, Plain
from gateway.operations.key_terms import require_team
from governance.people.directory import create_person, list_people, revoke_person
from governance.people.roles import RIGHTS, Right, Role


class NewPerson(BaseModel):
    """Somebody to be given a role; a team-lead has a team, and nobody else has."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._@+-]{0,99}$")]
    role: Role
    team: Plain | None = None

    @model_validator(mode="after")
    def _team_fits(self) -> Self:
        if (self.role is Role.TEAM_LEAD) != (self.team is not None):
            raise ValueError("a team-lead needs a team, and no other role has one")
        return self


class PersonFacts(BaseModel):
    """Somebody who administers, or did."""

    id: str
    name: str
    role: Role
    team: str | None
    created_at: datetime | None
    revoked_at: datetime | None


class MadePerson(BaseModel):
    """Somebody new, and their key, shown this once."""

    id: str
    key: str


class Me(BaseModel):
    """Who asks, and what they may do."""

    id: str
    name: str
    role: Role
    team: str | None
    rights: list[Right]


def people_router(desk: Desk) -> APIRouter:
    """Return the routes."""
    router = APIRouter(tags=["people"])

    @router.get("/me", summary="Say who this key speaks for.")
    async def me(person: Asking) -> Me:
        rights = sorted(RIGHTS[person.role])
        return Me(id=person.id, name=person.name, role=person.role, team=person.team, rights=rights)

    @router.get("/people", summary="List people, the newest first.")
    async def list_(person: Asking) -> list[PersonFacts]:
        person.require(Right.SEE_PEOPLE)
        return [PersonFacts.model_validate(one, from_attributes=True) for one in await list_people(desk.database)]

    @router.post("/people", status_code=201, summary="Give somebody a role and a key.")
    async def create(person: Asking, wanted: NewPerson) -> MadePerson:
        person.require(Right.CHANGE_PEOPLE)
        if wanted.team is not None:
            require_team(desk.policy, wanted.team)
        minted = await create_person(
            desk.database,
            name=wanted.name,
            role=wanted.role,
            team=wanted.team,
            by=person.actor,
            now=desk.now(),
            random_bytes=desk.random_bytes,
        )
        return MadePerson(id=minted.public_id, key=minted.key)

    @router.delete("/people/{person_id}", status_code=204, summary="Take somebody's key away for good.")
    async def revoke(person: Asking, person_id: Plain) -> None:
        person.require(Right.CHANGE_PEOPLE)
        await revoke_person(desk.database, person_id, by=person.actor, now=desk.now())

    return router
