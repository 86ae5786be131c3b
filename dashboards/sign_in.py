"""Who may look: the admin key opens a signed session; nothing about a session is stored on the server.

A session's signing key is drawn from a secret of this home *and* the admin key, so that a new admin key ends every
session. Knows no HTTP: cookies and forms are `app.py`'s.
"""

import hashlib
import hmac
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

SESSION_SECONDS = 12 * 3600
_GUESSES, _GUESS_SECONDS = 5, 60.0
_ADDRESSES = 10_000  # remembered at most; the longest quiet one is forgotten first


class SignInError(Exception):
    """The tree of this module's errors: `WrongKey`, `TooManyGuesses`."""


class WrongKey(SignInError):
    """The offered text is not the admin key."""


class TooManyGuesses(SignInError):
    """An address has guessed too often; `retry_after_s` says when it may again."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__(f"too many guesses; try again in {retry_after_s:.0f} s")
        self.retry_after_s = retry_after_s


@dataclass(slots=True)
class Throttle:
    """Allow each address five guesses a minute."""

    clock: Callable[[], float]
    _since: OrderedDict[str, tuple[float, int]] = field(default_factory=OrderedDict[str, tuple[float, int]])

    def guess(self, address: str) -> None:
        """Count one guess.

        Raises:
            TooManyGuesses: when the address has none left in this minute.
        """
        now = self.clock()
        since, guesses = self._since.pop(address, (now, 0))
        if now - since >= _GUESS_SECONDS:
            since, guesses = now, 0
        self._since[address] = (since, min(guesses + 1, _GUESSES + 1))
        while len(self._since) > _ADDRESSES:
            self._since.popitem(last=False)
        if guesses >= _GUESSES:
            raise TooManyGuesses(since + _GUESS_SECONDS - now)

    def forget(self, address: str) -> None:
        """Start afresh for an address that knew the key."""
        self._since.pop(address, None)


class SignIn:
    """Turns the admin key into session tokens, and session tokens into trust.

    Args:
        admin_key: the key that opens the dashboard.
        secret: at least 32 random bytes kept with this home; sessions survive a restart with it.
        clock: seconds since the epoch.
    """

    def __init__(self, *, admin_key: str, secret: bytes, clock: Callable[[], float]) -> None:
        if len(secret) < hashlib.sha256().digest_size:
            raise ValueError("the session secret must have at least 32 bytes")
        self._admin_key = _digest(admin_key)
        self._signing_key = hmac.digest(secret, b"sluice dashboard" + self._admin_key, "sha256")
        self._clock = clock
        self._throttle = Throttle(clock)

    def open(self, offered_key: str, address: str) -> str:
        """Exchange the admin key for a session token.

        Raises:
            TooManyGuesses: when this address has guessed too often, whatever it offers now.
            WrongKey: when the key is wrong.
        """
        self._throttle.guess(address)
        if not hmac.compare_digest(_digest(offered_key.strip()), self._admin_key):
            raise WrongKey("this is not the admin key")
        self._throttle.forget(address)
        body = f"{int(self._clock()) + SESSION_SECONDS}.{secrets.token_urlsafe(16)}"
        return f"{body}.{self._sign('session', body)}"

    def is_open(self, token: str | None) -> bool:
        """Say whether a session token is ours and has not run out."""
        body, _, signature = (token or "").rpartition(".")
        if not hmac.compare_digest(signature.encode(), self._sign("session", body).encode()):
            return False
        return self._clock() < int(body.partition(".")[0])

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


def _digest(text: str) -> bytes:
    """Hash before comparing, so that the comparison tells nothing, length included."""
    return hashlib.sha256(text.encode()).digest()
