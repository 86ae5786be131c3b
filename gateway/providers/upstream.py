"""What the gateway needs of a provider."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

Leave = Literal["cancel", "drain"]
"""What happens upstream when the client leaves: stop there and pay for what was made, or read on to the usage."""


class Chunk(NamedTuple):
    """One event of a stream: its bytes as they came, and what they say."""

    payload: bytes
    value: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Served:
    """What a provider says of a model it serves.

    Attributes:
        prefill_per_s: tokens of a prompt it computes in a second of the machine's time, where it measures that.
        decode_per_s: tokens of an answer it computes in a second of the machine's time.
    """

    prefill_per_s: float | None = None
    decode_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """A provider's state as last seen. `reason` says in one sentence why it is unavailable; empty when it is not."""

    reason: str = ""
    served: Mapping[str, Served] = field(default_factory=dict[str, Served])

    @property
    def available(self) -> bool:
        """Whether calls may be sent."""
        return not self.reason


class Upstream(Protocol):
    """One provider of the policy.

    Every method raises only the `UpstreamError` family of `gateway.errors`; a cancelled call closes its connection.
    """

    @property
    def name(self) -> str:
        """The policy's name of the provider."""
        ...

    @property
    def zone(self) -> str:
        """Where its machines are."""
        ...

    @property
    def leave(self) -> Leave:
        """What to do when a client leaves in mid-stream."""
        ...

    @property
    def status(self) -> Status:
        """Its state as last seen."""
        ...

    def bound(self, body: dict[str, Any], max_tokens: int, tenant: str) -> dict[str, Any]:
        """Return `body` with its answer bounded and its caches parted by tenant, in this provider's own fields."""
        ...

    def stream(self, body: dict[str, Any], request_id: str) -> AbstractAsyncContextManager[AsyncIterator[Chunk]]:
        """Open a chat completion; the chunks end when the provider says it is done."""
        ...

    async def embed(self, body: dict[str, Any], request_id: str) -> dict[str, Any]:
        """Return the provider's reply to an embeddings request."""
        ...

    async def refresh(self) -> None:
        """Look at the provider again and renew `status`; never raises."""
        ...
