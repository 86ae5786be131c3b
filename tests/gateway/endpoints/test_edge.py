"""A body comes whole, in time and within its size, or not at all."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from gateway.endpoints.edge import ClientLeft, read_body
from gateway.errors import BadRequest
from gateway.wire.body import LIMIT_BYTES


class Client:
    """Sends the parts of a body; what follows a body without an end never comes."""

    def __init__(self, parts: Sequence[bytes], *, ends: bool = True) -> None:
        self._messages: list[dict[str, Any]] = [
            {"type": "http.request", "body": part, "more_body": not ends or index + 1 < len(parts)}
            for index, part in enumerate(parts)
        ]

    async def receive(self) -> dict[str, Any]:
        if not self._messages:
            await asyncio.Event().wait()
        return self._messages.pop(0)


async def test_a_body_in_parts_is_put_together() -> None:
    assert await read_body(Client([b"a", b"", b"bc"]).receive, {}) == b"abc"


@pytest.mark.parametrize("parts", [[], [b"half"]])
async def test_a_body_that_does_not_come_in_time_is_refused(parts: list[bytes]) -> None:
    with pytest.raises(BadRequest, match=r"not complete within 0\.05 s"):
        await read_body(Client(parts, ends=False).receive, {}, limit_s=0.05)


async def test_a_body_that_is_too_large_is_refused_once_it_has_been_read() -> None:
    client = Client([b"x" * (LIMIT_BYTES // 2)] * 3)
    with pytest.raises(BadRequest, match="larger than 8 MiB"):
        await read_body(client.receive, {})
    assert client._messages == []


async def test_a_body_declared_beyond_all_measure_is_refused_unread() -> None:
    client = Client([b"x"])
    with pytest.raises(BadRequest, match="larger than 8 MiB"):
        await read_body(client.receive, {"content-length": str(LIMIT_BYTES * 9)})
    assert len(client._messages) == 1


async def test_a_client_that_leaves_is_left_alone() -> None:
    client = Client([b"half"], ends=False)
    client._messages.append({"type": "http.disconnect"})
    with pytest.raises(ClientLeft):
        await read_body(client.receive, {})
