"""`POST /v1/messages/count_tokens`."""

from dataclasses import dataclass

from gateway.dialects.messages.counting import chat_to_count, counted
from gateway.endpoints.edge import Edge, Scope, Visit, ask
from gateway.governing.governed import Governed
from gateway.wire.body import decode
from gateway.wire.departure import Receive
from gateway.wire.errors import anthropic_error
from gateway.wire.headers import render
from gateway.wire.reply import Send, send_json
from gateway.wire.request.chat_body import checked
from governance.identity import Caller

TOTAL_S = 10.0


@dataclass(frozen=True, slots=True)
class CountEndpoint:
    """A plain ASGI application for one path."""

    edge: Edge

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        await self.edge.serve("count", scope, receive, send, self._answer, anthropic_error)

    async def _answer(self, visit: Visit, governed: Governed, caller: Caller, raw: bytes) -> None:
        body = chat_to_count(decode(raw))
        asked = ask(visit, caller, "count", len(raw), body, checked(body), total_s=TOTAL_S, dialect="messages")
        tokens, facts = await governed.counts.answer(asked)
        await send_json(visit.send, 200, counted(tokens), render(facts))
