"""Where servers may listen: a free port for the gateway, a short private path for the engine's socket."""

import errno
import shutil
import socket
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from gateway.errors import PortTaken

_LONGEST_PATH = 100  # the kernel takes 107 bytes


def claim_port(host: str, port: int) -> int:
    """Return a port that can be listened on: the asked one, or a free one for 0.

    Raises:
        PortTaken: It cannot, for whatever reason the system gives.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server will: TIME_WAIT is no obstacle
        try:
            probe.bind((host, port))
        except (OSError, UnicodeError) as error:
            reason, cure = _told(error, host)
            raise PortTaken(f"cannot listen on {host}:{port}: {reason}; {cure}", host, port, reason) from error
        return int(probe.getsockname()[1])


def _told(error: OSError | UnicodeError, host: str) -> tuple[str, str]:
    """Word why an address cannot be listened on, and what to do."""
    if isinstance(error, socket.gaierror | UnicodeError):
        return f"there is no host {host!r}", "choose an address of this machine: HOST=…"
    match error.errno:
        case errno.EADDRINUSE:
            return "the port is taken", "stop what uses it, or choose another: PORT=…"
        case errno.EACCES:
            return "this user may not", "choose a port from 1024 up: PORT=…"
        case errno.EADDRNOTAVAIL:
            return "this machine has no such address", "choose one that it has: HOST=…"
        case _:
            return (error.strerror or str(error)).lower(), "choose another address: HOST=… PORT=…"


@contextmanager
def engine_socket(home: Path) -> Generator[Path]:
    """Yield a path for the engine's socket: in the home, or in a private temporary folder when that is too long."""
    inside = home.resolve() / "engine.sock"
    if len(bytes(inside)) <= _LONGEST_PATH:
        yield inside
        return
    folder = Path(tempfile.mkdtemp(prefix="sluice-"))  # mode 0700
    try:
        yield folder / "engine.sock"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
