"""Secrets on disk: made once, readable by their owner only; and the lock that keeps a home to one gateway."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO

from gateway.errors import HomeInUse
from gateway.operations.home import Home

_PRIVATE_FILE = 0o600
_PRIVATE_FOLDER = 0o700

RandomBytes = Callable[[int], bytes]


def make_home(path: Path) -> Home:
    """Return the home folder, made with mode 0700 when it is not there."""
    path.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    return Home(path.resolve())


def lock(home: Home) -> IO[str]:
    """Take the home for this process, until the returned file is closed or the process ends.

    Raises:
        HomeInUse: another process has it.
    """
    handle = home.gateway_lock.open("w")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handle.close()
        raise HomeInUse(
            f"Another gateway is running with SLUICE_HOME={home.path}. Stop it first, or give this one its own home."
        ) from None
    return handle


def admin_key(home: Home, random_bytes: RandomBytes) -> str:
    """Return the admin key kept in the home, made at the first call."""
    return keep(home.admin_key, lambda: f"sk-sluice-admin-{random_bytes(32).hex()}")


def session_secret(home: Home, random_bytes: RandomBytes) -> bytes:
    """Return the secret that signs session cookies, made at the first call."""
    return bytes.fromhex(keep(home.session_secret, lambda: random_bytes(32).hex()))


def keep(path: Path, make: Callable[[], str]) -> str:
    """Return the text of `path`; at the first call, write what `make` returns, readable by the owner only.

    Two processes that start together agree: the file appears whole, and the first one wins.
    """
    if not path.exists():
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        write_private(draft, make())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text(encoding="utf-8").strip()


def write_private(path: Path, text: str) -> None:
    """Write a file that only the owner may read, whatever the umask."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE_FILE)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text + "\n")
