"""The demo application's key: made where the policy has that application, so that a first call needs no other step."""

import fcntl
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from gateway.operations.home import Home
from gateway.operations.secrets import write_private
from gateway.policy.source import LoadedPolicy
from governance.audit.chain import GATEWAY
from governance.database import Database
from governance.errors import Unauthenticated
from governance.identity import Keyring
from governance.keys import create_key, refresh

_DEMO: Final = ("demo", "demo")


async def keep_demo_key(home: Home, database: Database, keyring: Keyring, policy: LoadedPolicy, now: datetime) -> None:
    """Make the demo application's key where the policy has one and the kept key opens nothing in this database.

    Where several workers find it missing at once, one makes it.
    """
    if policy.rules.app(*_DEMO) is None or _opens(home, keyring, now):
        return
    team, app = _DEMO
    with _first(home) as first:
        await refresh(keyring, database)
        if first and not _opens(home, keyring, now):
            minted = await create_key(
                database, team=team, app=app, by=GATEWAY, now=now, random_bytes=secrets.token_bytes, name="demo"
            )
            await refresh(keyring, database)  # first: who reads the file may use what is in it
            write_private(home.demo_key, minted.key)


@contextmanager
def _first(home: Home) -> Generator[bool]:
    """Say whether nobody else is in this block for the same home."""
    folder = os.open(home.path, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(folder)


def _opens(home: Home, keyring: Keyring, now: datetime) -> bool:
    """Say whether the kept demo key is one of this database's; a revoked one is, and stays revoked."""
    if not home.demo_key.exists():
        return False
    try:
        keyring.authenticate(home.demo_key.read_text(encoding="utf-8").strip(), now)
    except Unauthenticated as error:
        return error.reason in {"revoked", "expired"}
    return True
