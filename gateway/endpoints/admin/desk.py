"""What every route of the admin API shares: who asks, and what the answer is made of."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import AfterValidator, Field

from gateway.governing.in_force import InForce
from gateway.governing.shade import ShadeReports
from gateway.policy.source import LoadedPolicy
from gateway.wire.request.controls import credential, read_headers
from governance.attribution import LONGEST, is_plain
from governance.database import Database
from governance.errors import Unauthenticated
from governance.people.access import Access
from governance.people.roles import Person

_SCHEME = HTTPBearer(auto_error=False, description="An admin key: sk-sluice-admin-…")


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What administration works with.

    Attributes:
        access: who holds which admin key.
        database: where keys, people, the ledger and the audit log are.
        in_force: what governs here.
        env: where a policy's `${NAME}` is looked up.
        shade: what the policy in the shade would have done.
        learn_keys: teaches this process a change of keys at once; others learn it within a second.
        now: an aware clock.
        random_bytes: where secrets come from.
    """

    access: Access
    database: Database
    in_force: InForce
    env: Mapping[str, str]
    shade: ShadeReports
    learn_keys: Callable[[], Awaitable[None]]
    now: Callable[[], datetime]
    random_bytes: Callable[[int], bytes]

    @property
    def policy(self) -> LoadedPolicy:
        """The policy in force."""
        return self.in_force.governed.policy


async def _asking(request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Security(_SCHEME)]) -> Person:
    """Return who asks.

    Raises:
        Unauthenticated: There is no key, or it is nobody's.
        TooManyGuesses: The address has offered too many wrong keys.
    """
    desk: Desk = request.app.state.desk
    key = credential(read_headers(request.headers.raw)).text
    if not key:
        raise Unauthenticated("missing")
    return await desk.access.identify(key, request.client.host if request.client else "")


def _plain(text: str) -> str:
    if not is_plain(text):
        raise ValueError("should be text that prints, without spaces around it")
    return text


Plain = Annotated[str, Field(min_length=1, max_length=LONGEST), AfterValidator(_plain)]
"""A name or an id, as a person may send it: text that every database, log and terminal holds as it is."""

Asking = Annotated[Person, Depends(_asking)]
"""What a route takes to know who asks."""
