"""The batch APIs of providers: one file for each, over the upstream that calls it.

A shipment is sent once: before it is sent again it is looked for, because whoever sent it may have died before it was
told so. What comes back is one status and one body for each request, as a call would have got them.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Final, Protocol

from gateway.providers.upstream import Upstream
from governance.deferred.records import Delivered, Shipment

Requests = Sequence[tuple[str, bytes]]
"""The JSON of each request by its name."""

EXPIRED: Final = 504
"""The status of a request that the provider has not come to in time."""

MOST_LINE: Final = 64 * 1024 * 1024


CARRIED_S: Final = 26 * 3600.0
"""The longest that a carried call may take: providers promise a day, and may be asked a little later."""


class Carrier(Protocol):
    """Carries the call of one request to a provider's batches, at the price of a batch.

    A call that is `pinned` has been on its way since before this process began, to the very model that its request
    names now: it is paid for as it was then.
    """

    @property
    def pinned(self) -> bool:
        """Whether the call is out already."""
        ...

    def upstream(self, provider: Upstream, model: str, upstream_model: str) -> Upstream | None:
        """Return what speaks to a provider's batches of a model, by its two names; None where there are none."""
        ...


class BatchApi(Protocol):
    """How a provider's batches are handed in and asked after. Every method may raise `UpstreamError`."""

    async def find(self, shipment: Shipment) -> str | None:
        """Return the provider's id of a shipment that it may have got; None when it has not."""
        ...

    async def send(self, shipment: Shipment, requests: Requests) -> str:
        """Hand a shipment in, and return the provider's id of it."""
        ...

    async def answers(self, upstream_id: str) -> AsyncIterator[Delivered] | None:
        """Return the answers to a shipment, those that failed included; None while the provider works on it."""
        ...
