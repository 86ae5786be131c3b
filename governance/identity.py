"""Keys of applications: their shape, their making, and who a key belongs to.

A key reads `sk-sluice-<public id>-<secret>`. The public id names the key in logs and in the ledger. The secret is 256
random bits, so that one SHA-256 of it is enough at rest: there is nothing to guess, and no slow password hash to wait
for on each request.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from governance.errors import Unauthenticated
from governance.limits import Budget

PREFIX: Final = "sk-sluice-"
ADMIN_PREFIX: Final = "sk-sluice-admin-"
"""Keys of people; no application key begins so, because a public id has 16 characters."""

PUBLIC_BYTES: Final = 10
SECRET_BYTES: Final = 32
_KEY = re.compile(r"sk-sluice-([a-z2-7]{16})-([a-z2-7]{52})")
_PUBLIC_ID = re.compile(r"[a-z2-7]{1,16}")


@dataclass(frozen=True, slots=True)
class KeyTerms:
    """What a key narrows for its holder. It never widens what the policy grants the app.

    Attributes:
        tiers: the tiers of models it may use; None for all that the policy grants.
        models: the models it may use; None for all that the policy grants.
        budgets: what it may spend, of the scope `key:<public id>`, beside every budget of the policy.
    """

    tiers: tuple[str, ...] | None = None
    models: tuple[str, ...] | None = None
    budgets: tuple[Budget, ...] = ()


UNNARROWED: Final = KeyTerms()


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a key speaks for; `feature` is set when the key is bound to one."""

    key_id: str
    team: str
    app: str
    feature: str | None = None
    name: str | None = None
    terms: KeyTerms = UNNARROWED


@dataclass(frozen=True, slots=True)
class Minted:
    """A new key. `key` is shown once and kept nowhere; `secret_hash` is what is stored."""

    public_id: str
    key: str = field(repr=False)
    secret_hash: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """What the store knows of a key: its owner, its hashes, its end.

    `previous_hash` is the secret before a rotation, good until `previous_until`. `revision` grows with every change of
    any key, so that a reader can ask for what is newer than it has seen.
    """

    caller: Caller
    revision: int
    created_at: datetime
    secret_hash: bytes = field(repr=False)
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    previous_hash: bytes | None = field(default=None, repr=False)
    previous_until: datetime | None = None


def mint(random_bytes: Callable[[int], bytes], public_id: str | None = None, *, prefix: str = PREFIX) -> Minted:
    """Make a key from random bytes (`secrets.token_bytes`), or a new secret for the key `public_id`."""
    public_id = public_id or _base32(random_bytes(PUBLIC_BYTES))
    secret = _base32(random_bytes(SECRET_BYTES))
    return Minted(public_id=public_id, key=f"{prefix}{public_id}-{secret}", secret_hash=secret_hash(secret))


def public_id_of(text: str) -> str | None:
    """Return the public id in a whole key, or the text when it could be one itself; None for anything else."""
    whole = _KEY.fullmatch(text)
    if whole:
        return whole[1]
    return text if _PUBLIC_ID.fullmatch(text) else None


class Keyring:
    """The keys this process knows, in memory. Authentication touches no store.

    A poller feeds it: it reads `revision`, asks the store for newer records and hands them to `learn`.
    """

    def __init__(self) -> None:
        self._records: dict[str, KeyRecord] = {}
        self._revision = 0

    def __len__(self) -> int:
        return len(self._records)

    @property
    def revision(self) -> int:
        """The newest change this keyring has seen."""
        return self._revision

    def callers(self) -> tuple[Caller, ...]:
        """Whoever has a key that is not revoked."""
        return tuple(record.caller for record in self._records.values() if record.revoked_at is None)

    def budgets(self) -> tuple[Budget, ...]:
        """The budgets of all these keys."""
        return tuple(budget for caller in self.callers() for budget in caller.terms.budgets)

    def holder(self, key_id: str) -> Caller | None:
        """Return who has the key of a public id, expired or not; None for one that is unknown or revoked."""
        record = self._records.get(key_id)
        return None if record is None or record.revoked_at is not None else record.caller

    def learn(self, records: Iterable[KeyRecord]) -> None:
        """Take in new and changed keys."""
        for record in records:
            self._records[record.caller.key_id] = record
            self._revision = max(self._revision, record.revision)

    def authenticate(self, text: str, now: datetime) -> Caller:
        """Tell whose key this is.

        A wrong secret reads as `unknown`, so that nobody learns the state of a key without holding it.

        Raises:
            Unauthenticated: The key is missing, malformed, unknown, revoked or expired.
        """
        if not text:
            raise Unauthenticated("missing")
        match = _KEY.fullmatch(text)
        if match is None:
            raise Unauthenticated("malformed")
        public_id, secret = match.groups()
        record = self._records.get(public_id)
        if record is None or not _opens(record, secret_hash(secret), now):
            raise Unauthenticated("unknown")
        if record.revoked_at is not None:
            raise Unauthenticated("revoked")
        if record.expires_at is not None and now >= record.expires_at:
            raise Unauthenticated("expired")
        return record.caller


def _opens(record: KeyRecord, offered: bytes, now: datetime) -> bool:
    if hmac.compare_digest(record.secret_hash, offered):
        return True
    if record.previous_hash is None or record.previous_until is None or now >= record.previous_until:
        return False
    return hmac.compare_digest(record.previous_hash, offered)


def _base32(raw: bytes) -> str:
    """Lower-case letters and digits only, so that a double click selects a whole part."""
    return base64.b32encode(raw).decode().rstrip("=").lower()


def secret_hash(secret: str) -> bytes:
    """Hash the secret part of a key, as it is stored."""
    return hashlib.sha256(secret.encode()).digest()
