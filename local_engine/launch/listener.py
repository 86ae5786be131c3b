"""A socket to listen on that nobody else has, given back only by its owner."""

from __future__ import annotations

import os
import socket
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from local_engine.errors import CannotListen

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from local_engine.config import EngineConfig

_BACKLOG = 2048
_PROBE_S = 1.0


@contextmanager
def listening(config: EngineConfig) -> Generator[socket.socket]:
    """Yield a socket that listens already; a Unix socket is removed in the end unless another took its place.

    Raises:
        CannotListen: Another process listens there, something that is no socket lies there, or the system says no.
    """
    if config.uds is None:
        with _on_port(config.host, config.port) as listener:
            yield listener
        return
    with _on_path(config.uds) as listener:
        own = _identity(config.uds)
        try:
            yield listener
        finally:
            if _identity(config.uds) == own:
                config.uds.unlink(missing_ok=True)


def _on_port(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise CannotListen(f"{host}:{port}", _reason(error)) from error
    return listener


def _on_path(path: Path) -> socket.socket:
    """Bind a socket for this user only: whoever reaches it is not asked for a key."""
    _clear(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listener.bind(str(path))
        listener.listen(_BACKLOG)  # at once: to the next process, a socket that does not listen is a dead one's
    except OSError as error:
        listener.close()
        raise CannotListen(str(path), _reason(error)) from error
    finally:
        os.umask(mask)
    return listener


def _clear(path: Path) -> None:
    """Remove the socket that a dead process left behind, and nothing else."""
    if not path.exists():
        return
    if not path.is_socket():
        raise CannotListen(str(path), "it exists and is no socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_S)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
        except FileNotFoundError:
            return
        except TimeoutError:
            raise CannotListen(str(path), "another process listens there already") from None
        except OSError as error:
            raise CannotListen(str(path), _reason(error)) from error
        else:
            raise CannotListen(str(path), "another process listens there already")


def _identity(path: Path) -> tuple[int, int] | None:
    with suppress(OSError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
