"""Webhooks reach public addresses, and private ones only where they are written out."""

import socket

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from gateway.providers.webhooks import PublicOnly, is_public, open_webhook_client
from tests.support.scripted_upstream import serve
from tests.support.webhooks import Receiver


class Names(AbstractResolver):
    """Knows the addresses that a test gives."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)
            for address in self.addresses
        ]

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),  # noqa: S104  an address to refuse, not one to listen on
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("2002:7f00:1::", False),
    ],
)
def test_only_addresses_of_the_internet_are_public(address: str, public: bool) -> None:
    assert is_public(address) is public


async def test_a_name_with_one_private_address_is_refused() -> None:
    assert await PublicOnly(Names("8.8.8.8")).resolve("hooks.example.com")
    with pytest.raises(OSError, match="private address"):
        await PublicOnly(Names("8.8.8.8", "169.254.169.254")).resolve("hooks.example.com")


async def test_localhost_is_reached_because_the_policy_says_so() -> None:
    assert await PublicOnly(Names("127.0.0.1")).resolve("localhost")


async def test_a_redirect_is_not_followed() -> None:
    receiver = Receiver([302])
    async with serve(receiver.app()) as port, open_webhook_client() as client:
        reply = await client.post(f"http://127.0.0.1:{port}/hook", json={})
    assert (reply.status_code, len(receiver.got)) == (302, 1)
