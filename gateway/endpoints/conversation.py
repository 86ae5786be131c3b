"""The paths at which a model is asked, one for each dialect: read, answer, and say the answer as it was asked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from gateway.endpoints.edge import Edge, Scope, Visit, ask
from gateway.governing.governed import Governed
from gateway.speech import Request
from gateway.speech.chat import read_chat
from gateway.speech.completions import read_completions
from gateway.speech.messages import read_messages
from gateway.speech.responses import read_responses
from gateway.wire.departure import Departure, Receive
from gateway.wire.errors import ErrorBody, anthropic_error, openai_error
from gateway.wire.reply import PlainReply, Send, StreamedReply
from gateway.wire.request.controls import Headers
from governance.identity import Caller

Read = Callable[[bytes, str, Headers], Request]
"""Understands the bytes of a request, given its id and its headers."""


@dataclass(frozen=True, slots=True)
class ConversationEndpoint:
    """A plain ASGI application for one path.

    Attributes:
        name: what the ledger calls the endpoint.
        read: understands its requests.
        written: writes its errors.
    """

    edge: Edge
    name: str
    read: Read
    written: ErrorBody = openai_error

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        await self.edge.serve(self.name, scope, receive, send, self._answer, self.written)

    async def _answer(self, visit: Visit, governed: Governed, caller: Caller, raw: bytes) -> None:
        request = self.read(raw, visit.request_id, visit.headers)
        asked = ask(
            visit,
            caller,
            self.name,
            len(raw),
            request.body,
            request.fields,
            total_s=governed.total_s,
            stream=request.stream,
            dialect=request.dialect,
        )
        with Departure(visit.receive) as departure:
            if not asked.stream:
                await governed.chat.answer(asked, PlainReply(visit.send, departure, request.speech))
                return
            keep_alive_s = governed.policy.document.reliability.keep_alive
            with StreamedReply(visit.send, departure, request.speech, keep_alive_s) as reply:
                try:
                    await governed.chat.answer(asked, reply)
                except Exception as error:
                    if not reply.started:
                        raise
                    self.edge.tell(visit, error)
                    await reply.break_off(error)


READ: Final[Mapping[str, tuple[str, Read, ErrorBody]]] = {
    "/v1/chat/completions": ("chat", read_chat, openai_error),
    "/v1/completions": ("completions", read_completions, openai_error),
    "/v1/responses": ("responses", read_responses, openai_error),
    "/v1/messages": ("messages", read_messages, anthropic_error),
}
"""For each path: what the ledger calls it, who understands it, and how its errors are written."""


def conversations(edge: Edge) -> dict[str, ConversationEndpoint]:
    """Return the endpoint of each path."""
    return {path: ConversationEndpoint(edge, name, read, written) for path, (name, read, written) in READ.items()}
