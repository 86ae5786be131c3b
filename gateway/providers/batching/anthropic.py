"""Anthropic's Message Batches. Spec: the Anthropic API reference, "Message Batches"."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from gateway.providers.batching import EXPIRED, MOST_LINE, Requests
from gateway.providers.http import HttpUpstream
from gateway.providers.replies import as_object
from gateway.wire.jsonl import lines_of
from governance.deferred.records import Delivered, Shipment

_PATH: Final = "v1/messages/batches"
_CLOCKS: Final = timedelta(minutes=5)
"""By how much the provider's clock may be behind ours."""

_STATUSES: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}
"""What a call would have been answered with, by the type of the error."""


class AnthropicBatches:
    """Batches of one provider. They bear no name of ours, so one that may be ours is told by its age and size."""

    def __init__(self, upstream: HttpUpstream) -> None:
        self._upstream = upstream

    async def find(self, shipment: Shipment) -> str | None:
        """Look among the newest batches for one that is no older than the shipment and has as many requests."""
        page = await self._upstream.ask("GET", f"{_PATH}?limit=100")
        for batch in page.get("data") or []:
            made = datetime.fromisoformat(str(batch["created_at"]))
            counts: dict[str, int] = batch.get("request_counts") or {}
            if made >= shipment.created_at - _CLOCKS and sum(counts.values()) == shipment.size:
                return str(batch["id"])
        return None

    async def send(self, shipment: Shipment, requests: Requests) -> str:
        """Hand the requests in."""
        del shipment
        asked = {"requests": [{"custom_id": name, "params": msgspec.Raw(body)} for name, body in requests]}
        batch = await self._upstream.ask("POST", _PATH, body=asked)
        return str(batch["id"])

    async def answers(self, upstream_id: str) -> AsyncIterator[Delivered] | None:
        """Read the results of a batch that has ended."""
        batch = await self._upstream.ask("GET", f"{_PATH}/{upstream_id}")
        return self._read(upstream_id) if batch.get("processing_status") == "ended" else None

    async def _read(self, upstream_id: str) -> AsyncIterator[Delivered]:
        async with self._upstream.reading(f"{_PATH}/{upstream_id}/results") as pieces:
            async for _, line in lines_of(pieces, MOST_LINE):
                if line is not None:
                    yield _delivered(as_object(line, self._upstream.name))


def _delivered(line: dict[str, Any]) -> Delivered:
    name = str(line.get("custom_id"))
    result: dict[str, Any] = line.get("result") or {}
    if result.get("type") == "succeeded":
        return Delivered(name, 200, msgspec.json.encode(result.get("message")))
    late = {"type": "timeout_error", "message": result.get("type")}
    error: dict[str, Any] = result.get("error") or {"type": "error", "error": late}
    kind: Any = (error.get("error") or {}).get("type")
    status = _STATUSES.get(str(kind), EXPIRED if kind == "timeout_error" else 500)
    return Delivered(name, status, msgspec.json.encode(error))
