"""The lock that keeps a home to one gateway, and what it tells about the one that holds it."""

import fcntl
import os
from dataclasses import dataclass
from typing import IO

from gateway.errors import HomeInUse
from gateway.operations.home import Home

_PRIVATE_FILE = 0o600


@dataclass(frozen=True, slots=True)
class Holder:
    """The gateway that serves from a home.

    Attributes:
        port: where it listens; None when it has not said so.
    """

    port: int | None


def lock(home: Home, port: int | None = None) -> IO[str]:
    """Take the home for this process, until the returned file is closed or the process ends.

    Args:
        home: what to take.
        port: where this gateway listens, for others to read.

    Raises:
        HomeInUse: another process has it.
    """
    # Opening must not empty the file: what another gateway wrote there is still true.
    descriptor = os.open(home.gateway_lock, os.O_RDWR | os.O_CREAT, _PRIVATE_FILE)
    handle = os.fdopen(descriptor, "r+", encoding="ascii")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handle.close()
        other = holder(home)
        raise _in_use(home, other and other.port) from None
    handle.truncate()
    handle.write("" if port is None else f"{port}\n")
    handle.flush()
    return handle


def holder(home: Home) -> Holder | None:
    """Return the gateway that has the home now, or None; makes no file."""
    try:
        handle = home.gateway_lock.open(encoding="ascii")
    except OSError:
        return None
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            said = handle.read().strip()
            return Holder(int(said) if said.isdecimal() else None)
    return None


def refuse_if_held(home: Home) -> None:
    """Look whether the home is free, without taking it.

    Raises:
        HomeInUse: another process has it.
    """
    if other := holder(home):
        raise _in_use(home, other.port)


def _in_use(home: Home, port: int | None) -> HomeInUse:
    where = f" on port {port}" if port else ""
    return HomeInUse(
        f"another gateway is running{where} with SLUICE_HOME={home.path}; "
        "stop it first, or give this one a home of its own: SLUICE_HOME=…"
    )
