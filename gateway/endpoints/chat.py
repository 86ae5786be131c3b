"""`POST /v1/chat/completions`."""

from dataclasses import dataclass

from gateway.chat import TOTAL_S
from gateway.endpoints.edge import Edge, Scope, Visit, ask
from gateway.governing.governed import Governed
from gateway.wire.departure import Departure, Receive
from gateway.wire.reply import PlainReply, Send, StreamedReply
from gateway.wire.request.chat_body import decode_chat
from governance.identity import Caller


@dataclass(frozen=True, slots=True)
class ChatEndpoint:
    """A plain ASGI application for one path."""

    edge: Edge

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        await self.edge.serve("chat", scope, receive, send, self._answer)

    async def _answer(self, visit: Visit, governed: Governed, caller: Caller, raw: bytes) -> None:
        body, fields = decode_chat(raw)
        asked = ask(visit, caller, "chat", len(raw), body, fields, total_s=TOTAL_S, stream=bool(fields.stream))
        with Departure(visit.receive) as departure:
            if not asked.stream:
                await governed.chat.answer(asked, PlainReply(visit.send, departure))
                return
            reply = StreamedReply(visit.send, departure)
            try:
                await governed.chat.answer(asked, reply)
            except Exception as error:
                if not reply.started:
                    raise
                self.edge.tell(visit, error)
                await reply.break_off(error)
