"""A provider that the policy names and this process cannot use: it is listed with its reason and never called."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from gateway.errors import UpstreamError
from gateway.policy.reliability import Timeouts
from gateway.providers.leaving import CANCEL
from gateway.providers.upstream import Call, Chunk, Status, Wanted
from governance.confinement.confined import Confined


class AbsentUpstream:
    """Keeps the name, the zone and the reason."""

    def __init__(self, name: str, zone: str, reason: str) -> None:
        self.name = name
        self.zone = zone
        self.leave = CANCEL
        self.sells = False
        self.timeouts = Timeouts()
        self.status = Status(reason)
        self.counts = False

    def write(self, call: Call) -> Wanted:
        """Return the body as it is: it goes nowhere."""
        return Wanted("", call.body)

    @asynccontextmanager
    async def stream(self, wanted: Wanted, request_id: str) -> AsyncGenerator[AsyncIterator[Chunk]]:
        """Refuse."""
        del wanted, request_id
        raise self._error()
        yield  # pragma: no cover - what makes this a generator

    def write_embeddings(self, body: dict[str, Any], confined: Confined) -> Wanted:
        """Return the body as it is: it goes nowhere."""
        del confined
        return Wanted("", body)

    async def embed(self, wanted: Wanted, body: dict[str, Any], request_id: str) -> dict[str, Any]:
        """Refuse."""
        del wanted, body, request_id
        raise self._error()

    async def count(self, call: Call, request_id: str) -> int | None:
        """Say nothing."""
        del call, request_id

    async def refresh(self) -> None:
        """Stay absent."""

    def _error(self) -> UpstreamError:
        return UpstreamError(f"Provider {self.name!r} is unavailable: {self.status.reason}.", self.name)
