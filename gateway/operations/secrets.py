"""The home folder and the secrets in it: made once, readable by their owner only."""

import os
from collections.abc import Callable
from pathlib import Path

from gateway.errors import CannotServe
from gateway.operations.home import Home

_PRIVATE_FILE = 0o600
_PRIVATE_FOLDER = 0o700

RandomBytes = Callable[[int], bytes]


def make_home(path: Path) -> Home:
    """Return the home folder, made with mode 0700 when it is not there.

    Raises:
        CannotServe: it cannot be made, is no folder, or may not be written.
    """
    try:
        path.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        reason = "is a file" if path.is_file() else f"cannot be made ({(error.strerror or str(error)).lower()})"
        raise _unusable(path, reason) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise _unusable(path, "cannot be written by this user")
    return Home(path.resolve())


def _unusable(path: Path, reason: str) -> CannotServe:
    return CannotServe(f"SLUICE_HOME={path} {reason}; give it a folder that may be written: SLUICE_HOME=…")


def admin_key(home: Home, random_bytes: RandomBytes) -> str:
    """Return the admin key kept in the home, made at the first call."""
    return keep(home.admin_key, lambda: f"sk-sluice-admin-{random_bytes(32).hex()}")


def session_secret(home: Home, random_bytes: RandomBytes) -> bytes:
    """Return the secret that signs session cookies, made at the first call."""
    return bytes.fromhex(keep(home.session_secret, lambda: random_bytes(32).hex()))


def webhook_secret(home: Home, random_bytes: RandomBytes) -> bytes:
    """Return the secret that signs alerts, made at the first call; its text is what receivers verify with."""
    return keep(home.webhook_secret, lambda: random_bytes(32).hex()).encode()


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
