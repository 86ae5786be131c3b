"""The HTTP client for upstream calls: `httpx` on aiohttp's transport, which costs a third of the default one here."""

import ssl
from contextvars import ContextVar
from functools import cache
from typing import Final

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport


def open_client(address: str, *, connections: int = 512) -> httpx.AsyncClient:
    """Return a client for `address`: `unix:<path>` for a socket on this machine, otherwise an http(s) base URL.

    The client keeps no cookies (they would tie tenants together), obeys no proxy variables and follows no redirects:
    a request goes to the address in the policy or nowhere.
    """
    path = address.removeprefix("unix:") if address.startswith("unix:") else None
    base = "http://engine/v1" if path is not None else address
    tls = _trusted() if base.startswith("https:") else True

    def session() -> aiohttp.ClientSession:
        connector = (
            aiohttp.UnixConnector(path=path, limit=connections)
            if path is not None
            else aiohttp.TCPConnector(limit=connections, ssl=tls)
        )
        return aiohttp.ClientSession(
            connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trace_configs=[_remembering()]
        )

    return httpx.AsyncClient(
        base_url=base.rstrip("/") + "/",
        transport=AiohttpTransport(verify=False, client=session),
        timeout=None,  # noqa: S113  every call says how long it waits
        headers={"accept-encoding": "identity", "user-agent": "sluice"},
        trust_env=False,
        follow_redirects=False,
    )


def was_kept() -> bool:
    """Say whether the latest call of this task began on a connection that had been kept from another."""
    return _kept.get()


def _remembering() -> aiohttp.TraceConfig:
    async def fresh(*_: object) -> None:
        _kept.set(False)

    async def kept(*_: object) -> None:
        _kept.set(True)

    trace = aiohttp.TraceConfig()
    trace.on_request_start.append(fresh)
    trace.on_connection_reuseconn.append(kept)
    return trace


_kept: Final = ContextVar("kept", default=False)


@cache
def _trusted() -> ssl.SSLContext:
    """Return the one context of all clients: reading the authorities takes longer than a request may wait."""
    return httpx.create_ssl_context()
