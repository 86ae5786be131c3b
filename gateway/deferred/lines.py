"""Run one line of a batch: the request that it is, by the same steps and into the same ledger as any other.

An endpoint's lines can be deferred once `ENDPOINTS` says how one is understood and answered. Nothing else here, in the
queue or in the API of batches knows endpoints apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Protocol

from gateway.catalogue import Kind
from gateway.deferred.wishes import Wishes
from gateway.endpoints.conversation import READ
from gateway.endpoints.edge import FieldsT
from gateway.errors import BadRequest
from gateway.governing.governed import Governed
from gateway.providers.batching import CARRIED_S, Carrier
from gateway.providers.upstream import Chunk, Dialect
from gateway.speech import Speech
from gateway.steps.admission import Asked
from gateway.wire.departure import Departure
from gateway.wire.errors import ErrorBody, openai_error
from gateway.wire.headers import Facts
from gateway.wire.request.controls import Controls
from gateway.wire.request.embedding_body import decode_embedding
from governance.identity import Caller

LIMIT_S: Final = 6 * 3600.0
"""The longest that a line may take when its submitter sets no limit: on our own machines it may have to stand still."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Who asks, and when.

    Attributes:
        tick: the same moment as `at` on the monotonic clock, in seconds.
        carrier: may carry its call.
        model: what stands in for the model that the line names, when its call is out already.
    """

    request_id: str
    at: datetime
    tick: float
    caller: Caller
    wishes: Wishes
    carrier: Carrier | None = None
    model: str | None = None

    @property
    def controls(self) -> Controls:
        """What the line asks of the gateway itself; one whose call is out already wants no other answer."""
        controls = self.wishes.controls
        out = self.carrier is not None and self.carrier.pinned
        return replace(controls, cache_control="no-cache") if out else controls


class RunLine(Protocol):
    """How the requests of one endpoint are run when nobody waits for them."""

    @property
    def kind(self) -> Kind:
        """What the models make that answer them."""
        ...

    @property
    def written(self) -> ErrorBody:
        """How its errors are written."""
        ...

    def model(self, raw: bytes) -> str:
        """Look at the body of a request, and return the model or route it names.

        Raises:
            BadRequest: it is malformed, or cannot be deferred.
        """
        ...

    async def answer(self, asking: Asking, governed: Governed, raw: bytes) -> dict[str, Any]:
        """Return the body of the answer, whatever it cost; raises what the endpoint itself would reply with."""
        ...


class KeptReply:
    """The answer of a chat, for whoever reads it later."""

    def __init__(self, speech: Speech) -> None:
        self.departure = Departure(_nobody)
        self.body: dict[str, Any] = {}
        self.spoken = False
        self._speech = speech

    async def begin(self, facts: Facts) -> None:
        """Wait for the end."""

    async def piece(self, chunk: Chunk) -> None:
        """Wait for the end: the completion is folded from the same chunks."""

    async def told(self, completion: dict[str, Any]) -> None:
        """Wait for the end."""

    async def finish(self, completion: dict[str, Any], facts: Facts) -> None:
        """Keep the body."""
        del facts
        self.body = self._speech.whole(completion)


@dataclass(frozen=True, slots=True)
class ConversationLine:
    """A request for an answer in words, at one of the paths of `gateway.endpoints.conversation`."""

    path: str

    kind: Kind = "chat"

    @property
    def written(self) -> ErrorBody:
        """How its errors are written."""
        return READ[self.path][2]

    def model(self, raw: bytes) -> str:
        """Look at the body."""
        request = READ[self.path][1](raw, "", {})
        if request.stream:
            raise BadRequest("A stream cannot be deferred: leave 'stream' out.", "stream")
        return request.fields.model

    async def answer(self, asking: Asking, governed: Governed, raw: bytes) -> dict[str, Any]:
        """Return the answer in the words of the path."""
        endpoint, read, _ = READ[self.path]
        request = read(raw, asking.request_id, asking.wishes.spoken)
        if request.stream:
            raise BadRequest("A stream cannot be deferred: leave 'stream' out.", "stream")
        reply = KeptReply(request.speech)
        asked = _asked(asking, endpoint, len(raw), request.body, request.fields, LIMIT_S, request.dialect)
        await governed.chat.answer(asked, reply)
        return reply.body


@dataclass(frozen=True, slots=True)
class EmbeddingLine:
    """A request for embeddings."""

    kind: Kind = "embedding"
    written: ErrorBody = openai_error

    def model(self, raw: bytes) -> str:
        """Look at the body."""
        _, fields = decode_embedding(raw)
        return fields.model

    async def answer(self, asking: Asking, governed: Governed, raw: bytes) -> dict[str, Any]:
        """Return the vectors."""
        body, fields = decode_embedding(raw)
        asked = _asked(asking, "embeddings", len(raw), body, fields, governed.total_s)
        result, _ = await governed.embeddings.answer(asked)
        return result


ENDPOINTS: Final[Mapping[str, RunLine]] = MappingProxyType(
    {path: ConversationLine(path) for path in READ} | {"/v1/embeddings": EmbeddingLine()}
)
"""The paths whose requests can be lines of a batch, or be deferred one by one."""


def _asked(
    asking: Asking,
    endpoint: str,
    size: int,
    body: dict[str, Any],
    fields: FieldsT,
    total_s: float,
    dialect: Dialect = "chat",
) -> Asked[FieldsT]:
    return Asked(
        request_id=asking.request_id,
        at=asking.at,
        tick=asking.tick,
        endpoint=endpoint,
        caller=asking.caller,
        offered=asking.wishes.offered(fields.metadata, fields.user),
        controls=asking.controls,
        body=body,
        size=size,
        fields=fields,
        model=asking.model or fields.model,
        limit_s=CARRIED_S if asking.carrier is not None else asking.wishes.timeout_s or total_s,
        dialect=dialect,
        deferred=True,
        carrier=asking.carrier,
    )


async def _nobody() -> dict[str, str]:
    """Never hear that a client has left."""
    raise AssertionError("nobody watches for who waits for nothing")
