"""OpenAI's Batch API. Spec: the OpenAI API reference, "Files" and "Batch"."""

from collections.abc import AsyncIterator
from typing import Any, Final

import msgspec

from gateway.providers.batching import EXPIRED, MOST_LINE, Requests
from gateway.providers.http import HttpUpstream
from gateway.providers.replies import as_object
from gateway.wire.jsonl import lines_of
from governance.deferred.records import Delivered, Shipment

_NAME: Final = "sluice_shipment"
_PAGES: Final = 20
_OVER: Final = frozenset({"completed", "failed", "expired", "cancelled"})


class OpenAIBatches:
    """Batches of one provider; ours are named in their metadata."""

    def __init__(self, upstream: HttpUpstream) -> None:
        self._upstream = upstream

    async def find(self, shipment: Shipment) -> str | None:
        """Look through the newest batches for the one of that name."""
        after = ""
        for _ in range(_PAGES):
            page = await self._upstream.ask("GET", f"batches?limit=100{after}")
            listed: list[dict[str, Any]] = page.get("data") or []
            for batch in listed:
                if (batch.get("metadata") or {}).get(_NAME) == shipment.id:
                    return str(batch["id"])
            if not page.get("has_more") or not listed:
                return None
            after = f"&after={listed[-1]['id']}"
        return None

    async def send(self, shipment: Shipment, requests: Requests) -> str:
        """Upload the requests and hand them in."""
        url = f"/v1/{shipment.path}"
        lines = [
            msgspec.json.encode({"custom_id": name, "method": "POST", "url": url, "body": msgspec.Raw(body)})
            for name, body in requests
        ]
        form = {"purpose": "batch"}, {"file": (f"{shipment.id}.jsonl", b"\n".join(lines), "application/jsonl")}
        file = await self._upstream.ask("POST", "files", form=form)
        asked = {
            "input_file_id": file["id"],
            "endpoint": url,
            "completion_window": "24h",
            "metadata": {_NAME: shipment.id},
        }
        batch = await self._upstream.ask("POST", "batches", body=asked)
        return str(batch["id"])

    async def answers(self, upstream_id: str) -> AsyncIterator[Delivered] | None:
        """Read the output and error files of a batch that is over."""
        batch = await self._upstream.ask("GET", f"batches/{upstream_id}")
        if batch.get("status") not in _OVER:
            return None
        return self._read([batch[name] for name in ("output_file_id", "error_file_id") if batch.get(name)])

    async def _read(self, file_ids: list[str]) -> AsyncIterator[Delivered]:
        for file_id in file_ids:
            async with self._upstream.reading(f"files/{file_id}/content") as pieces:
                async for _, line in lines_of(pieces, MOST_LINE):
                    if line is not None:
                        yield _delivered(as_object(line, self._upstream.name))


def _delivered(line: dict[str, Any]) -> Delivered:
    response, name = line.get("response"), str(line.get("custom_id"))
    if isinstance(response, dict):
        return Delivered(name, int(response["status_code"]), msgspec.json.encode(response.get("body")))
    return Delivered(name, EXPIRED, msgspec.json.encode({"error": line.get("error")}))
