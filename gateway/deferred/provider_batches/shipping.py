"""Ship parcels to the providers' batch APIs, and ask after them until they are answered.

Each step is written down before the next, so that a process may die anywhere: a shipment that was being sent is looked
for at the provider before it is sent again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import msgspec
from structlog.typing import FilteringBoundLogger

from gateway.errors import UpstreamError
from gateway.governing.in_force import InForce
from gateway.operations.metrics import Metrics
from gateway.providers.batching import EXPIRED, BatchApi
from gateway.providers.batching.anthropic import AnthropicBatches
from gateway.providers.batching.openai import OpenAIBatches
from gateway.providers.http import HttpUpstream
from governance.confinement.decisions import strays
from governance.database import Database
from governance.deferred import parcels
from governance.deferred.records import Delivered, Shipment, ShipmentState

SHIP_S: Final = 5.0
"""How often shipments are looked at."""

GATHER: Final = timedelta(seconds=20)
"""How long the first parcel of a shipment waits for others."""

POLL: Final = timedelta(seconds=30)
AGAIN: Final = timedelta(seconds=60)
MOST_PARCELS: Final = 5_000
_FINAL: Final = frozenset({400, 401, 403, 404, 413, 422})
"""Statuses with which a provider will not take a shipment, however often it is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipping:
    """Tends to shipments. `now` is an aware clock, `new_id` names shipments."""

    database: Database
    in_force: InForce
    metrics: Metrics
    log: FilteringBoundLogger
    now: Callable[[], datetime]
    new_id: Callable[[], str]

    async def tend(self) -> None:
        """Pack what waits, and do for each shipment that is due what is to be done."""
        while await parcels.pack(self.database, self.new_id(), self.now(), gathered=GATHER, most=MOST_PARCELS):
            pass
        while (shipment := await parcels.claim(self.database, self.now())) is not None:
            await self._tend(shipment)
        self.metrics.batch_lag.clear()
        for provider, seconds in (await parcels.lag(self.database, self.now())).items():
            self.metrics.batch_lag.labels(provider).set(seconds)

    async def _tend(self, shipment: Shipment) -> None:
        with self.in_force.governing() as governed:
            provider = governed.catalogue.provider(shipment.provider)
            api = _api_of(provider)
            if provider is None or api is None:
                await parcels.postpone(self.database, shipment, self.now() + AGAIN)
                return
            try:
                if shipment.state is ShipmentState.SENT and shipment.upstream_id is not None:
                    await self._ask(api, shipment, shipment.upstream_id)
                else:
                    await self._send(api, provider.zone, shipment)
            except UpstreamError as error:
                await self._stumbled(shipment, error)

    async def _send(self, api: BatchApi, zone: str, shipment: Shipment) -> None:
        found = await api.find(shipment) if shipment.state is ShipmentState.SENDING else None
        if found is None:
            requests = await self._permitted(shipment, zone)
            if not requests:
                await self._advance(shipment, ShipmentState.OVER, self.now())
                return
            await self._advance(shipment, ShipmentState.SENDING, self.now() + parcels.CLAIM)
            found = await api.send(shipment, requests)
        await self._advance(shipment, ShipmentState.SENT, self.now() + POLL, found)

    async def _permitted(self, shipment: Shipment, zone: str) -> tuple[tuple[str, bytes], ...]:
        """Return what of a shipment may go where its provider is now: a policy may have moved it since.

        What may not is over for this provider, so that its line asks once more and finds its place anew.
        """
        packed = await parcels.contents(self.database, shipment)
        outside = await strays(self.database, [name for name, _ in packed], zone)
        if outside:
            self.log.warning("out of zone", shipment=shipment.id, provider=shipment.provider, requests=len(outside))
            lost = [Delivered(name, EXPIRED, b"{}") for name in sorted(outside)]
            await parcels.deliver(self.database, shipment, lost)
        return tuple((name, body) for name, body in packed if name not in outside)

    async def _ask(self, api: BatchApi, shipment: Shipment, upstream_id: str) -> None:
        answers = await api.answers(upstream_id)
        if answers is None:
            await self._advance(shipment, ShipmentState.SENT, self.now() + POLL, upstream_id)
            return
        some: list[Delivered] = []
        async for answer in answers:
            some.append(answer)
            if len(some) == parcels.AT_ONCE:
                await parcels.deliver(self.database, shipment, some)
                some = []
        await parcels.deliver(self.database, shipment, some)
        await parcels.give_up(self.database, shipment, EXPIRED, b"{}")
        await self._advance(shipment, ShipmentState.OVER, self.now(), upstream_id)

    async def _stumbled(self, shipment: Shipment, error: UpstreamError) -> None:
        self.log.warning("shipment", shipment=shipment.id, provider=shipment.provider, reason=str(error))
        if shipment.state is not ShipmentState.SENT and error.status in _FINAL:
            said = msgspec.json.encode({"error": {"message": str(error)}})
            await parcels.give_up(self.database, shipment, error.status, said)
            await self._advance(shipment, ShipmentState.OVER, self.now())
        else:
            await parcels.postpone(self.database, shipment, self.now() + AGAIN)

    async def _advance(
        self, shipment: Shipment, state: ShipmentState, due_at: datetime, upstream_id: str | None = None
    ) -> None:
        await parcels.advance(self.database, shipment, state, self.now(), due_at, upstream_id)


def _api_of(upstream: object) -> BatchApi | None:
    if not isinstance(upstream, HttpUpstream):
        return None
    return AnthropicBatches(upstream) if upstream.dialect == "messages" else OpenAIBatches(upstream)
