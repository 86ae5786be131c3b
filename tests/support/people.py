"""People for tests, without a database: one key each, and the owner's with its limit on guesses."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from governance.errors import Unauthenticated
from governance.people.roles import OWNER, Person
from governance.people.throttle import Throttle


@dataclass
class ScriptedPeople:
    """Whoever the test names; `asked` are the sign-ins it saw."""

    clock: Callable[[], float]
    keys: dict[str, Person] = field(default_factory=lambda: {"sk-admin": OWNER})
    seal: bytes = b"seal"
    asked: list[tuple[Person, str]] = field(default_factory=list[tuple[Person, str]])

    def __post_init__(self) -> None:
        self._throttle = Throttle(self.clock)

    async def sign_in(self, key: str, address: str, now: datetime) -> Person:
        """Know the keys, and nothing else."""
        self._throttle.guess(address)
        if key.strip() not in self.keys:
            raise Unauthenticated("unknown")
        self._throttle.forget(address)
        self.asked.append((self.keys[key.strip()], address))
        return self.keys[key.strip()]

    async def find(self, person_id: str) -> Person | None:
        """Find those whose key is still there."""
        return next((person for person in self.keys.values() if person.id == person_id), None)
