"""What the gateway needs of a provider."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, Protocol

from gateway.policy.reliability import Timeouts
from gateway.providers.leaving import Leave
from governance.confinement.confined import Confined

Dialect = Literal["chat", "completions", "responses", "messages", "gemini", "converse"]
"""Whose words a request or an event is in."""


NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})


class Chunk(NamedTuple):
    """One event of a stream; one of which all is empty is but a sign of life.

    Attributes:
        payload: its data as it came; empty where the event before it has said all of it.
        value: what it says, as a chunk of a chat; empty when it says nothing.
        dialect: what the payload is written in.
    """

    payload: bytes
    value: dict[str, Any]
    dialect: Dialect = "chat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to a provider.

    Attributes:
        body: the body of a chat, with the provider's own name of the model and no bound on its answer.
        confined: where it may go.
        max_tokens: the most tokens of each answer.
        tenant: whose it is, so that caches of prompts can be parted.
        spoken: the dialect of the client. What that knows beyond a chat stands in the body under names of its own.
        idle: nobody waits for the answer, so that every other call may go before this one.
    """

    body: dict[str, Any]
    confined: Confined
    max_tokens: int
    tenant: str
    spoken: Dialect = "chat"
    idle: bool = False


class Wanted(NamedTuple):
    """What is posted to a provider: a path below its address, a body of JSON, headers that this request needs.

    `confined` says once more where it may go: what was written for one provider is not posted to another, and what no
    provider has looked at (None) is posted to none.
    """

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str] = NO_HEADERS
    confined: Confined | None = None


@dataclass(frozen=True, slots=True)
class Served:
    """What a provider says of a model it serves.

    Attributes:
        prefill_per_s: tokens of a prompt it computes in a second of the machine's time, where it measures that.
        decode_per_s: tokens of an answer it computes in a second of the machine's time.
        unmeasured: why it does not measure them, to go on from the model's name; empty where nothing is known.
    """

    prefill_per_s: float | None = None
    decode_per_s: float | None = None
    unmeasured: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """A provider's state as last seen. `reason` says in one sentence why it is unavailable; empty when it is not."""

    reason: str = ""
    served: Mapping[str, Served] = field(default_factory=dict[str, Served])

    @property
    def available(self) -> bool:
        """Whether calls may be sent."""
        return not self.reason


class StillOut(BaseException):  # no error: nothing has gone wrong, and nothing but its maker should catch it
    """A call whose answer is still to come, when this process ends: its hold stays open for whoever goes on with it."""


class Upstream(Protocol):
    """One provider of the policy.

    Calls raise only the `UpstreamError` family of `gateway.errors`; a cancelled call closes its connection.
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
    def sells(self) -> bool:
        """Whether it may bill what it has computed, though nobody waited for it or it told no usage."""
        ...

    @property
    def counts(self) -> bool:
        """Whether it can be asked for the count of a prompt."""
        ...

    @property
    def timeouts(self) -> Timeouts:
        """How long it is waited for."""
        ...

    @property
    def status(self) -> Status:
        """Its state as last seen."""
        ...

    def write(self, call: Call) -> Wanted:
        """Say a call in the provider's own words, with its answer bounded and its caches parted by tenant.

        Raises:
            BadRequest: it has no word for something that is asked for; nothing has been sent.
            OutOfZone: the request may not go there.
        """
        ...

    def stream(self, wanted: Wanted, request_id: str) -> AbstractAsyncContextManager[AsyncIterator[Chunk]]:
        """Open the stream of an answer; the chunks end when the provider says it is done."""
        ...

    def write_embeddings(self, body: dict[str, Any], confined: Confined) -> Wanted:
        """Say an embeddings request of OpenAI's form in the provider's own words.

        Raises:
            BadRequest: it has no word for something that is asked for; nothing has been sent.
            OutOfZone: the request may not go there.
        """
        ...

    async def embed(self, wanted: Wanted, body: dict[str, Any], request_id: str) -> dict[str, Any]:
        """Return the reply to the embeddings request `body`, written as `wanted`, in OpenAI's form."""
        ...

    async def count(self, call: Call, request_id: str) -> int | None:
        """Return how many tokens the prompt of a call has, as the provider counts; None where it does not say."""
        ...

    async def refresh(self) -> None:
        """Look at the provider again and renew `status`; never raises."""
        ...
