"""The npm packages `openai` and `@anthropic-ai/sdk`, unmodified but for their base URL, in a process of Node's own."""

import asyncio
import json
import os
import shutil
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.support.polyglot import DIALECTS, Polyglot, polyglot

NODE = Path(__file__).parent / "node"
MISSING = shutil.which("node") is None or not (NODE / "node_modules" / "openai").is_dir()


@pytest.fixture
async def polyglots(tmp_path: Path) -> AsyncGenerator[Polyglot]:
    if MISSING:
        why = f"the SDKs of Node are not installed (npm install --prefix {NODE.relative_to(Path.cwd())})"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(why)
    async with polyglot(tmp_path) as running:
        yield running


@pytest.mark.parametrize("model", DIALECTS)
async def test_an_application_in_javascript_gets_all_that_it_asks_for(polyglots: Polyglot, model: str) -> None:
    base = f"http://127.0.0.1:{polyglots.gateway.port}"
    process = await asyncio.create_subprocess_exec(
        "node", str(NODE / "client.js"), base, polyglots.key, model, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    told: dict[str, Any] = {}
    for line in said.decode().splitlines():
        told |= json.loads(line)
    error = told.pop("error")

    assert process.returncode == 0
    assert told == {
        "chat": "Hello, world!",
        "stream": {"text": "Hello, world!", "tokens": 4, "cost": "0.000096"},
        "tools": 0,
        "responses": ["Hello, world!", "Hello, world!"],
        "embeddings": 2,
        "anthropic": "Hello, world!",
    }
    assert error[:2] == [404, "model_not_found"]
    assert error[2].startswith("req_")
