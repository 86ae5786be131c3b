"""The official OpenAI client, unmodified: files and batches from one end to the other."""

import json
from pathlib import Path

import openai
import pytest

from tests.support.batch_files import PATH, chat_line, jsonl
from tests.support.running_gateway import running_gateway
from tests.support.waiting import eventually


async def test_the_openai_client_hands_a_batch_in_and_reads_what_came_of_it(tmp_path: Path) -> None:
    async with (
        running_gateway(tmp_path) as gateway,
        openai.AsyncOpenAI(api_key=await gateway.key(), base_url=gateway.base_url, max_retries=0) as client,
    ):
        lines = [chat_line(n) for n in (1, 2)]
        file = await client.files.create(file=("in.jsonl", jsonl(lines)), purpose="batch")
        assert (file.bytes, file.filename, file.purpose) == (len(jsonl(lines)), "in.jsonl", "batch")
        assert (await client.files.content(file.id)).content == jsonl(lines)
        batch = await client.batches.create(
            input_file_id=file.id, endpoint=PATH, completion_window="24h", metadata={"for": "test"}
        )
        assert batch.status == "validating"

        async def is_over() -> bool:
            return (await client.batches.retrieve(batch.id)).status == "completed"

        await eventually(is_over)
        done = await client.batches.retrieve(batch.id)
        assert done.request_counts is not None
        assert (done.request_counts.completed, done.metadata) == (2, {"for": "test"})
        assert done.output_file_id is not None
        answers = (await client.files.content(done.output_file_id)).text
        assert [json.loads(line)["custom_id"] for line in answers.splitlines()] == ["line-1", "line-2"]

        second = await client.batches.create(input_file_id=file.id, endpoint=PATH, completion_window="24h")
        assert [one.id async for one in client.batches.list(limit=1)] == [second.id, batch.id]
        assert (await client.batches.cancel(second.id)).status in {"cancelling", "cancelled"}
        assert {one.id async for one in client.files.list(limit=1, purpose="batch")} == {file.id}
        assert (await client.files.delete(file.id)).deleted
        with pytest.raises(openai.NotFoundError):
            await client.files.retrieve(file.id)
        with pytest.raises(openai.ConflictError):
            await client.batches.cancel(batch.id)
