"""From an admin key to the person it speaks for.

The installation's own key is compared in memory, so that the owner can act while the database is new; it may be of any
shape, even a short one somebody thought up, so guesses at it are limited. Keys of people are looked up each time, so
that a revoked one is closed at once; their 256 random bits need no limit.
"""

import hashlib
import hmac
import re
from collections.abc import Callable
from datetime import datetime
from typing import Final

from governance.audit.chain import Act
from governance.audit.log import append
from governance.database import Database
from governance.errors import Unauthenticated
from governance.identity import ADMIN_PREFIX, secret_hash
from governance.people.directory import find_person
from governance.people.roles import OWNER, Person
from governance.people.throttle import Throttle

_KEY: Final = re.compile(ADMIN_PREFIX + r"([a-z2-7]{16})-([a-z2-7]{52})")


class Access:
    """Knows who holds an admin key.

    Args:
        database: where people are kept.
        owner_key: the installation's own admin key.
        clock: seconds since the epoch.
    """

    def __init__(self, database: Database, owner_key: str, clock: Callable[[], float]) -> None:
        self._database = database
        self._owner = hashlib.sha256(owner_key.encode()).digest()
        self._throttle = Throttle(clock)

    @property
    def seal(self) -> bytes:
        """A digest of the owner's key: what is signed with it ends when that key changes."""
        return self._owner

    async def identify(self, key: str, address: str) -> Person:
        """Tell who holds a key.

        Args:
            key: What was offered.
            address: Where it came from.

        Raises:
            TooManyGuesses: This address has guessed too often, whatever it offers now.
            Unauthenticated: The key is nobody's, or revoked.
            StoreUnavailable: The database does not answer.
        """
        key = key.strip()
        match = _KEY.fullmatch(key)
        if match is None:
            self._throttle.guess(address)
        # Hashed before comparing, so that the comparison tells nothing, length included.
        if hmac.compare_digest(hashlib.sha256(key.encode()).digest(), self._owner):
            self._throttle.forget(address)
            return OWNER
        if match is None:
            raise Unauthenticated("unknown")
        return await find_person(self._database, match[1], secret_hash(match[2]))

    async def sign_in(self, key: str, address: str, now: datetime) -> Person:
        """Identify somebody who begins a session, and write it down; raises what `identify` raises."""
        person = await self.identify(key, address)
        async with self._database.transaction() as connection:
            facts = {"address": address}
            await append(
                connection, person.actor, Act.SIGNED_IN, person.id, at=now, team=person.team or "", facts=facts
            )
        return person

    async def find(self, person_id: str) -> Person | None:
        """Return the person of a session, or None when they may act no more.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        if person_id == OWNER.id:
            return OWNER
        try:
            return await find_person(self._database, person_id)
        except Unauthenticated:
            return None
