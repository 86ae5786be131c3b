"""The reply that puts back what was redacted in its request, for the one who asked and nobody else.

Whatever is kept of an answer, in caches and under idempotency keys, is kept before it comes here: with placeholders.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from gateway.providers.upstream import Chunk
from gateway.steps.guarding.bodies import rewritten
from gateway.steps.guarding.rewriting import Rewriting
from gateway.wire.departure import Departure
from gateway.wire.headers import Facts
from gateway.wire.reply import Reply
from governance.guardrails.placeholders import Restoring


class RestoringReply:
    """A reply to a request in which `values` were redacted, by their placeholders."""

    def __init__(self, reply: Reply, values: Mapping[str, str]) -> None:
        self._reply = reply
        self._values = values
        self._rewriting = self._begun()

    @property
    def departure(self) -> Departure:
        """Whether the client is still there."""
        return self._reply.departure

    @property
    def spoken(self) -> bool:
        """Whether anything of an answer has gone out."""
        return self._reply.spoken

    async def begin(self, facts: Facts) -> None:
        """Begin an answer anew."""
        self._rewriting = self._begun()
        await self._reply.begin(facts)

    async def piece(self, chunk: Chunk) -> None:
        """Pass on a chunk with what is complete put back."""
        for value in self._rewriting.rewrite(chunk.value) if chunk.value else ():
            await self._reply.piece(Chunk(msgspec.json.encode(value), value))

    async def told(self, completion: dict[str, Any]) -> None:
        """Pass on a whole answer with everything put back."""
        await self._reply.told(self._restored(completion))

    async def finish(self, completion: dict[str, Any], facts: Facts) -> None:
        """End the answer with everything put back."""
        await self._reply.finish(self._restored(completion), facts)

    def _begun(self) -> Rewriting:
        return Rewriting(lambda _, json: Restoring(self._values, json=json))

    def _restored(self, completion: dict[str, Any]) -> dict[str, Any]:
        def put_back(text: str, json: bool) -> str:
            restoring = Restoring(self._values, json=json)
            return restoring.feed(text) + restoring.end()

        return completion | rewritten({"choices": completion["choices"]}, put_back)
