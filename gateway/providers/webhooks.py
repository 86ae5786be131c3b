"""The HTTP client for webhooks: it reaches public addresses, and private ones only where the policy writes them out.

A name is resolved here, each time, and every address it stands for must be public; so nobody who can change a name can
make the gateway post to a machine of its own network. An address written in figures, or `localhost`, is the policy's
own decision.
"""

import socket
from ipaddress import IPv6Address, ip_address

import aiohttp
import httpx
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver
from httpx_aiohttp import AiohttpTransport

_AS_WRITTEN = frozenset({"localhost"})


class PublicOnly(AbstractResolver):
    """Resolves names as `inner` does, and refuses those that stand for an address that is not public."""

    def __init__(self, inner: AbstractResolver) -> None:
        self._inner = inner

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Resolve a name.

        Raises:
            OSError: It does not exist, or one of its addresses is not public.
        """
        found = await self._inner.resolve(host, port, family)
        if host not in _AS_WRITTEN and not all(is_public(one["host"]) for one in found):
            raise OSError(None, "the name stands for a private address")
        return found

    async def close(self) -> None:
        """Close the inner resolver."""
        await self._inner.close()


def is_public(address: str) -> bool:
    """Say whether an address is one of the public Internet, also where it is an IPv4 one inside an IPv6 one."""
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address):
        inside = parsed.ipv4_mapped or parsed.sixtofour
        if inside is not None:
            return inside.is_global
    return parsed.is_global and not parsed.is_multicast


def open_webhook_client() -> httpx.AsyncClient:
    """Return the client; it follows no redirects, keeps no cookies and obeys no proxy variables."""
    tls = httpx.create_ssl_context()

    def session() -> aiohttp.ClientSession:
        resolver = PublicOnly(ThreadedResolver())
        connector = aiohttp.TCPConnector(limit=20, ssl=tls, resolver=resolver, use_dns_cache=False)
        return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())

    return httpx.AsyncClient(
        transport=AiohttpTransport(verify=False, client=session),
        timeout=httpx.Timeout(10.0, connect=5.0),
        headers={"user-agent": "sluice"},
        trust_env=False,
        follow_redirects=False,
    )
