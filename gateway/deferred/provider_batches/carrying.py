"""Carry calls through the providers' own batch APIs: the pipeline waits for each as for any other call, only longer.

So a carried line is held for, settled, kept and recorded as every request is, at the price of a batch. What is out
outlives this process: its hold is left open at the end, and whoever takes the line up goes on with the same request.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import msgspec

from gateway.errors import UpstreamUnreached
from gateway.policy.document import Policy
from gateway.policy.models import AnthropicProvider, OpenAIProvider
from gateway.policy.reliability import Timeouts
from gateway.providers.batching import CARRIED_S
from gateway.providers.http import HttpUpstream
from gateway.providers.upstream import Call, Chunk, Status, StillOut, Upstream, Wanted
from governance.confinement.confined import Confined
from governance.database import Database
from governance.deferred import parcels
from governance.deferred.records import Delivered, Line, Parcel

_OF_STREAMS: Final = frozenset({"stream", "stream_options"})
_OK: Final = 200


@dataclass(slots=True, eq=False)
class Carriage:
    """What is out in this process: each request that waits for its answer."""

    database: Database
    _waiting: dict[str, asyncio.Future[Delivered]] = field(default_factory=dict[str, "asyncio.Future[Delivered]"])

    async def arrival(self, request_id: str) -> Delivered:
        """Wait for the answer to a request.

        Raises:
            StillOut: this process ends first.
        """
        arrival = self._waiting[request_id] = asyncio.get_running_loop().create_future()
        try:
            return await arrival
        finally:
            del self._waiting[request_id]

    async def hand_out(self) -> None:
        """Give the answers that have come to whoever waits for them."""
        for answer in await parcels.delivered(self.database, tuple(self._waiting)):
            arrival = self._waiting.get(answer.request_id)
            if arrival is not None and not arrival.done():
                arrival.set_result(answer)

    def abandon(self) -> None:
        """Let nobody wait any longer, because this process ends."""
        for arrival in self._waiting.values():
            if not arrival.done():
                arrival.set_exception(StillOut())


@dataclass(frozen=True, slots=True, kw_only=True)
class LineCarrier:
    """Carries the call of one line; see `gateway.providers.batching.Carrier`.

    Attributes:
        line: the line.
        at: the instant whose budget windows pay for it.
        document: the policy in force.
        carriage: where it waits.
        aboard: told when the call is out.
    """

    line: Line
    at: datetime
    document: Policy
    carriage: Carriage
    aboard: Callable[[], None]

    @property
    def pinned(self) -> bool:
        """Whether the call is out already."""
        return self.line.parcel is not None

    def upstream(self, provider: Upstream, model: str, upstream_model: str) -> Upstream | None:
        """Return the provider's batches, for one that has them and may be used so."""
        section = self.document.providers.get(provider.name)
        sells = isinstance(section, OpenAIProvider | AnthropicProvider) and section.batch
        names = model, upstream_model
        return CarriedUpstream(self, names, provider) if sells and isinstance(provider, HttpUpstream) else None


class CarriedUpstream:
    """A provider as a carried call sees it."""

    def __init__(self, carrier: LineCarrier, names: tuple[str, str], provider: HttpUpstream) -> None:
        self.name = provider.name
        self.zone = provider.zone
        self.leave = provider.leave
        self.sells = provider.sells
        self.counts = provider.counts
        self.timeouts = Timeouts(first_token_s=CARRIED_S, idle_s=CARRIED_S, total_s=CARRIED_S)
        self._carrier = carrier
        self._model, self._upstream_model = names
        self._provider = provider

    @property
    def status(self) -> Status:
        """The provider's state."""
        return self._provider.status

    def write(self, call: Call) -> Wanted:
        """Say a call in the provider's own words."""
        return self._provider.write(call)

    @asynccontextmanager
    async def stream(self, wanted: Wanted, request_id: str) -> AsyncGenerator[AsyncIterator[Chunk]]:
        """Hand the call over, wait for its answer, and give all of it at once."""
        carrier = self._carrier
        parcel = carrier.line.parcel or self._parcel(wanted, request_id)
        if not await parcels.hand_over(carrier.carriage.database, carrier.line, parcel):
            raise UpstreamUnreached("The line is another worker's by now.", self.name)
        carrier.aboard()
        answer = await carrier.carriage.arrival(request_id)
        if answer.status != _OK:
            raise self._provider.refused(answer.status, answer.body)
        yield _each(self._provider.hear(wanted, answer.body))

    def write_embeddings(self, body: dict[str, Any], confined: Confined) -> Wanted:
        """Say an embeddings request in the provider's own words."""
        return self._provider.write_embeddings(body, confined)

    async def embed(self, wanted: Wanted, body: dict[str, Any], request_id: str) -> dict[str, Any]:
        """Make the call at once: embeddings are not carried."""
        return await self._provider.embed(wanted, body, request_id)

    async def count(self, call: Call, request_id: str) -> int | None:
        """Ask the provider for the count of a prompt."""
        return await self._provider.count(call, request_id)

    async def refresh(self) -> None:
        """Look at the provider again."""
        await self._provider.refresh()

    def _parcel(self, wanted: Wanted, request_id: str) -> Parcel:
        body = {name: value for name, value in wanted.body.items() if name not in _OF_STREAMS}
        return Parcel(
            request_id=request_id,
            provider=self.name,
            path=wanted.path,
            model=self._model,
            upstream_model=self._upstream_model,
            asked_at=self._carrier.at,
            body=msgspec.json.encode(body),
        )


async def _each(chunks: list[Chunk]) -> AsyncIterator[Chunk]:
    for chunk in chunks:
        yield chunk
