"""One question to a server over HTTP/1.0, on a TCP port or a Unix socket, without an HTTP library in the parent."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server listens: a Unix socket, or a host and a port."""

    path: Path | None = None
    host: str = "127.0.0.1"
    port: int = 0

    @classmethod
    def parse(cls, url: str) -> "Place":
        """Read `unix:<path>` or an http base URL.

        Raises:
            ValueError: when it is neither.
        """
        if url.startswith("unix:"):
            return cls(path=Path(url.removeprefix("unix:")))
        parts = urlsplit(url)
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError(f"{url!r} is neither unix:<path> nor http://<host>:<port>")
        return cls(host=parts.hostname, port=parts.port or 80)

    def __str__(self) -> str:
        """Return what a person would type."""
        return f"unix:{self.path}" if self.path else f"http://{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server said."""

    status: int
    body: bytes


async def ask(place: Place, path: str, timeout_s: float = _TIMEOUT_S) -> Reply | None:
    """GET `path`; None when nobody answers in time, or not in HTTP."""
    try:
        async with asyncio.timeout(timeout_s):
            return await _get(place, path)
    except (OSError, ValueError, IndexError):  # TimeoutError is an OSError
        return None


async def _get(place: Place, path: str) -> Reply:
    if place.path:
        reader, writer = await asyncio.open_unix_connection(place.path)
    else:
        reader, writer = await asyncio.open_connection(place.host, place.port)
    try:
        writer.write(f"GET {path} HTTP/1.0\r\nHost: {place.host}\r\nConnection: close\r\n\r\n".encode("ascii"))
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        return Reply(status=int(head.split()[1]), body=body)
    finally:
        writer.close()
