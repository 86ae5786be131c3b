"""Who may look: an admin key opens a signed session that names a person; no session is stored on the server.

A session's signing key is drawn from a secret of this home *and* the owner's admin key, so that a new admin key ends
every session. What a person may see is asked each time a page is opened, so that a revoked one sees nothing more. Knows
no HTTP: cookies and forms are `app.py`'s.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from governance.people.roles import Person

SESSION_SECONDS = 12 * 3600


class People(Protocol):
    """Who holds which admin key; `governance.people.access.Access` is the real one."""

    @property
    def seal(self) -> bytes:
        """A digest of the owner's key."""
        ...

    async def sign_in(self, key: str, address: str, now: datetime) -> Person:
        """Tell who holds a key, and write down that they came.

        Raises:
            TooManyGuesses: This address has guessed too often, whatever it offers now.
            Unauthenticated: The key is nobody's.
            StoreUnavailable: The database does not answer.
        """
        ...

    async def find(self, person_id: str) -> Person | None:
        """Return the person of a session, or None when they may act no more."""
        ...


class SignIn:
    """Turns admin keys into session tokens, and session tokens into people.

    Args:
        people: who holds which key.
        secret: at least 32 random bytes kept with this home; sessions survive a restart with it.
        clock: seconds since the epoch.
    """

    def __init__(self, *, people: People, secret: bytes, clock: Callable[[], float]) -> None:
        if len(secret) < hashlib.sha256().digest_size:
            raise ValueError("the session secret must have at least 32 bytes")
        self._people = people
        self._signing_key = hmac.digest(secret, b"sluice dashboard sessions of people" + people.seal, "sha256")
        self._clock = clock

    async def open(self, offered_key: str, address: str) -> str:
        """Exchange an admin key for a session token; raises what `People.sign_in` raises."""
        person = await self._people.sign_in(offered_key, address, datetime.fromtimestamp(self._clock(), UTC))
        body = f"{int(self._clock()) + SESSION_SECONDS}.{person.id}.{secrets.token_urlsafe(16)}"
        return f"{body}.{self._sign('session', body)}"

    async def who(self, token: str | None) -> Person | None:
        """Return the person of a session token that is ours and has not run out, or None.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        body, _, signature = (token or "").rpartition(".")
        if not hmac.compare_digest(signature.encode(), self._sign("session", body).encode()):
            return None
        end, person_id, _ = body.split(".", 2)
        return await self._people.find(person_id) if self._clock() < int(end) else None

    def form_token(self, browser: str) -> str:
        """Return what a form must carry to be believed to come from our page in this browser.

        Args:
            browser: what only that browser sends: its session token, or before sign-in a random cookie.
        """
        return self._sign("form", browser)

    def is_form(self, browser: str | None, offered: str) -> bool:
        """Say whether a form came from our page in this browser."""
        return bool(browser) and hmac.compare_digest(offered.encode(), self._sign("form", browser or "").encode())

    def _sign(self, purpose: str, text: str) -> str:
        return hmac.new(self._signing_key, f"{purpose}:{text}".encode(), "sha256").hexdigest()
