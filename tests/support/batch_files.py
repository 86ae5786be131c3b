"""Inputs of batches, and what comes of them."""

import asyncio
import json
from collections.abc import Iterable
from typing import Any

import httpx

PATH = "/v1/chat/completions"
OVER = {"completed", "failed", "expired", "cancelled"}


def chat_line(n: int, *, model: str = "auto", text: str | None = None, **body: Any) -> dict[str, Any]:
    """One line of an input: a question of its own, unless `text` says which."""
    asked = {"model": model, "messages": [{"role": "user", "content": text or f"question {n}"}], "max_tokens": 40}
    return {"custom_id": f"line-{n}", "method": "POST", "url": PATH, "body": asked | body}


def jsonl(lines: Iterable[object]) -> bytes:
    """An input file."""
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


class BatchClient:
    """Speaks the API of files and batches as one key."""

    def __init__(self, client: httpx.AsyncClient, key: str) -> None:
        self._client = client
        self._headers = {"authorization": f"Bearer {key}"}

    async def upload(self, content: bytes, purpose: str = "batch") -> httpx.Response:
        """Upload a file."""
        return await self._client.post(
            "/v1/files", data={"purpose": purpose}, files={"file": ("in.jsonl", content)}, headers=self._headers
        )

    async def create(self, file_id: str, headers: dict[str, str] | None = None, **fields: Any) -> httpx.Response:
        """Hand a batch in."""
        asked = {"input_file_id": file_id, "endpoint": PATH, "completion_window": "24h"} | fields
        return await self._client.post("/v1/batches", json=asked, headers=self._headers | (headers or {}))

    async def submit(self, lines: Iterable[object], headers: dict[str, str] | None = None, **fields: Any) -> str:
        """Upload lines and hand them in; return the batch's id."""
        file = await self.upload(jsonl(lines))
        assert file.status_code == 200, file.text
        batch = await self.create(file.json()["id"], headers, **fields)
        assert batch.status_code == 200, batch.text
        return str(batch.json()["id"])

    async def get(self, path: str, **params: str) -> httpx.Response:
        """Get whatever is there."""
        return await self._client.get(path, params=params, headers=self._headers)

    async def post(self, path: str) -> httpx.Response:
        """Post nothing."""
        return await self._client.post(path, headers=self._headers)

    async def delete(self, path: str) -> httpx.Response:
        """Delete."""
        return await self._client.delete(path, headers=self._headers)

    async def finished(self, batch_id: str, within_s: float = 20) -> dict[str, Any]:
        """Wait until a batch is over, and return it."""
        async with asyncio.timeout(within_s):
            while True:
                reply = await self.get(f"/v1/batches/{batch_id}")
                assert reply.status_code == 200, reply.text
                if reply.json()["status"] in OVER:
                    return reply.json()
                await asyncio.sleep(0.05)

    async def results(self, file_id: str | None) -> list[dict[str, Any]]:
        """Read an output or error file."""
        assert file_id is not None
        reply = await self.get(f"/v1/files/{file_id}/content")
        assert reply.status_code == 200, reply.text
        return [json.loads(line) for line in reply.text.splitlines()]
