"""`POST /v1/embeddings`."""

from dataclasses import dataclass

from gateway.endpoints.edge import Edge, Scope, Visit, ask
from gateway.governing.governed import Governed
from gateway.wire.departure import Receive
from gateway.wire.headers import render
from gateway.wire.reply import Send, send_json
from gateway.wire.request.embedding_body import decode_embedding
from governance.identity import Caller


@dataclass(frozen=True, slots=True)
class EmbeddingEndpoint:
    """A plain ASGI application for one path."""

    edge: Edge

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        await self.edge.serve("embeddings", scope, receive, send, self._answer)

    async def _answer(self, visit: Visit, governed: Governed, caller: Caller, raw: bytes) -> None:
        body, fields = decode_embedding(raw)
        asked = ask(visit, caller, "embeddings", len(raw), body, fields, total_s=governed.total_s)
        result, facts = await governed.embeddings.answer(asked)
        await send_json(visit.send, 200, result, render(facts))
