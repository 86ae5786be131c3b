"""The HTTP surface in process, over small models."""

import asyncio
import base64
import json
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import httpx
import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from local_engine.models import Models
from local_engine.request import Request as EngineRequest
from local_engine.types import Numerics, SamplingParams, StepPlan
from tests.support.clocks import HandClock
from tests.support.engine_server import Gate, LetterEncoder, app_of, hash_runner, is_idle, service_of, serving
from tests.support.tiny_model import tiny_runner
from tests.support.waiting import until

CHAT = {"model": "tiny", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 6, "temperature": 0}


@asynccontextmanager
async def calling(models: Models, max_body_bytes: int = 1 << 20) -> AsyncGenerator[httpx.AsyncClient, None]:
    transport = httpx.ASGITransport(app_of(models, max_body_bytes), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://engine") as client:
        yield client


def data_of(text: str) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in text.split("\n\n") if line]
    return [line if line == "[DONE]" else json.loads(line) for line in lines]


async def test_a_chat_is_answered_whole_or_as_a_stream_with_the_same_text_and_usage() -> None:
    async with serving(tiny_runner(Numerics.FP32)) as models, calling(models) as client:
        whole = (await client.post("/v1/chat/completions", json=CHAT)).json()
        streamed = await client.post(
            "/v1/chat/completions", json=CHAT | {"stream": True, "stream_options": {"include_usage": True}}
        )
        assert streamed.headers["content-type"].startswith("text/event-stream")
        *chunks, usage, done = data_of(streamed.text)
        assert done == "[DONE]"
        text = "".join(choice["delta"].get("content", "") for chunk in chunks for choice in chunk["choices"])
        assert text == whole["choices"][0]["message"]["content"]
        assert chunks[-1]["choices"][0]["finish_reason"] == whole["choices"][0]["finish_reason"]
        assert usage["usage"]["completion_tokens"] == whole["usage"]["completion_tokens"]
        assert usage["usage"]["prompt_tokens_details"]["cached_tokens"] > 0
        assert whole["usage"]["prompt_tokens_details"] == {"cached_tokens": 0}


async def test_salts_keep_prefixes_apart() -> None:
    async with serving() as models, calling(models) as client:
        hits: list[int] = []
        for salt in ("a", "b", "a"):
            reply = await client.post("/v1/chat/completions", json=CHAT | {"cache_salt": salt})
            hits.append(reply.json()["usage"]["prompt_tokens_details"]["cached_tokens"])
        assert hits[:2] == [0, 0]
        assert hits[2] > 0


async def test_choices_of_every_prompt_are_answered_in_order() -> None:
    async with serving() as models, calling(models) as client:
        body = {"prompt": ["ab", [4, 5, 6]], "n": 2, "max_tokens": 3, "seed": 5, "logprobs": 1}
        reply = (await client.post("/v1/completions", json=body)).json()
        assert [choice["index"] for choice in reply["choices"]] == [0, 1, 2, 3]
        assert reply["choices"][0]["text"] != reply["choices"][1]["text"]
        assert len(reply["choices"][0]["logprobs"]["tokens"]) == 3
        assert reply["usage"]["prompt_tokens"] == 5
        again = (await client.post("/v1/completions", json=body)).json()
        assert again["choices"] == reply["choices"]


async def test_tokens_of_a_text_turn_back_into_it_and_a_chat_is_counted_as_the_model_sees_it() -> None:
    async with serving() as models, calling(models) as client:
        tokens = (await client.post("/tokenize", json={"prompt": "héllo <|im_end|>"})).json()
        assert tokens["count"] == len(tokens["tokens"])
        text = (await client.post("/detokenize", json={"tokens": tokens["tokens"]})).json()
        assert text == {"prompt": "héllo <|im_end|>"}
        chat = (await client.post("/tokenize", json={"messages": CHAT["messages"]})).json()
        answer = (await client.post("/v1/chat/completions", json=CHAT)).json()
        assert chat["count"] == answer["usage"]["prompt_tokens"]


async def test_models_are_listed_with_their_limits_and_speeds() -> None:
    async with serving() as models, calling(models) as client:
        text, embeddings = (await client.get("/v1/models")).json()["data"]
        assert (text["id"], text["max_model_len"]) == ("tiny", 512)
        assert text["measured"] == {"prefill_tokens_per_second": 1000.0, "decode_tokens_per_second": 50.0}
        assert (embeddings["id"], embeddings["max_model_len"]) == ("tiny-embeddings", 8)
        assert embeddings["measured"] == {"prefill_tokens_per_second": 2000.0}


async def test_the_speeds_of_the_models_follow_their_work() -> None:
    clock = HandClock()

    def take(plan: StepPlan | None = None) -> None:
        clock.pass_on(0.25)

    async with (
        serving(hash_runner(on_step=take), clock=clock, encoder=LetterEncoder(take)) as models,
        calling(models) as client,
    ):
        await client.post("/v1/completions", json={"prompt": [5, 6, 7], "max_tokens": 40, "ignore_eos": True})
        await client.post("/v1/embeddings", json={"input": ["a b", "c"]})
        text, embeddings = (await client.get("/v1/models")).json()["data"]
        page = (await client.get("/metrics")).text
    assert text["measured"]["decode_tokens_per_second"] == pytest.approx(38, rel=0.01), "of 4, with the probe's 50"
    assert 900 < text["measured"]["prefill_tokens_per_second"] < 1000
    assert embeddings["measured"] == {"prefill_tokens_per_second": pytest.approx(1980, rel=0.01)}
    values = {
        (sample.name, sample.labels["model"]): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if "model" in sample.labels
    }
    assert values["sluice_engine_prefill_tokens_total", "tiny"] == 3
    assert values["sluice_engine_decode_tokens_total", "tiny"] == 40
    assert values["sluice_engine_prefill_tokens_total", "tiny-embeddings"] == 3
    assert values["sluice_engine_prefill_seconds_total", "tiny-embeddings"] == 0.25
    spent = [values[f"sluice_engine_{phase}_seconds_total", "tiny"] for phase in ("prefill", "decode")]
    assert sum(spent) == pytest.approx(40 * 0.25)
    assert ("sluice_engine_decode_seconds_total", "tiny-embeddings") not in values


async def test_embeddings_come_as_numbers_or_as_base64_of_the_same_numbers() -> None:
    async with serving() as models, calling(models) as client:
        body = {"model": "tiny-embeddings", "input": ["a b", "c"]}
        numbers = (await client.post("/v1/embeddings", json=body)).json()
        assert numbers["usage"] == {"prompt_tokens": 3, "total_tokens": 3}
        packed = (await client.post("/v1/embeddings", json=body | {"encoding_format": "base64"})).json()
        for plain, coded in zip(numbers["data"], packed["data"], strict=True):
            vector = np.frombuffer(base64.b64decode(coded["embedding"]), "<f4")
            assert np.allclose(vector, plain["embedding"])


BAD_EMBEDDINGS: list[dict[str, Any]] = [
    {"input": [1, 2]},
    {"input": [[1]]},
    {"input": []},
    {"input": "a " * 9},
    {"input": "a", "dimensions": 5},
    {"input": "a", "encoding_format": "hex"},
]


@pytest.mark.parametrize("fields", BAD_EMBEDDINGS, ids=str)
async def test_embeddings_that_cannot_be_made_are_refused(fields: dict[str, Any]) -> None:
    async with serving() as models, calling(models) as client:
        refused = await client.post("/v1/embeddings", json=fields)
        assert refused.status_code == 400
        assert refused.json()["error"]["type"] == "invalid_request_error"


BAD_CHATS: dict[str, bytes] = {
    "no JSON": b"nonsense",
    "invalid UTF-8": b'{"messages":[{"role":"user","content":"\xff"}]}',
    "a lone surrogate": b'{"messages":[{"role":"user","content":"\\ud800"}]}',
    "no messages": b'{"messages":[]}',
    "an unknown role": b'{"messages":[{"role":"king","content":"a"}]}',
    "no role": b'{"messages":[{"content":"a"}]}',
    "an image": b'{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{}}]}]}',
    "content as a number": b'{"messages":[{"role":"user","content":5}]}',
    "a negative length": b'{"messages":[{"role":"user","content":"a"}],"max_tokens":-5}',
    "tools": b'{"messages":[{"role":"user","content":"a"}],"tools":[{"type":"function"}]}',
    "a forced tool": b'{"messages":[{"role":"user","content":"a"}],"tool_choice":"required"}',
    "an unknown bias": b'{"messages":[{"role":"user","content":"a"}],"logit_bias":{"260":1}}',
    "deep JSON": b'{"messages":[{"role":"user","content":' + b"[" * 50_000,
}


@pytest.mark.parametrize("case", BAD_CHATS)
@pytest.mark.parametrize("is_stream", [False, True])
async def test_what_is_malformed_is_told_in_openais_shape(case: str, is_stream: bool) -> None:
    body = BAD_CHATS[case]
    if is_stream:
        body = body.replace(b"{", b'{"stream":true,', 1)
    async with serving() as models, calling(models) as client:
        refused = await client.post("/v1/chat/completions", content=body)
        assert refused.status_code == 400
        assert set(refused.json()["error"]) == {"message", "type", "param", "code"}


@pytest.mark.parametrize(
    "prompt", ["", [], [[]], [""], [True], [1, "a"], [-1], [260], [10**30], {"a": 1}, None], ids=repr
)
async def test_prompts_that_are_none_are_refused(prompt: object) -> None:
    async with serving() as models, calling(models) as client:
        refused = await client.post("/v1/completions", json={"prompt": prompt})
        assert refused.status_code == 400
        assert is_idle(models)


async def test_an_exceeded_context_is_told_with_the_counts() -> None:
    async with serving() as models, calling(models) as client:
        refused = await client.post("/v1/completions", json={"prompt": "x" * 500, "max_tokens": 13})
        assert refused.status_code == 400
        error = refused.json()["error"]
        assert error["code"] == "context_length_exceeded"
        assert (error["prompt_tokens"], error["max_tokens"], error["limit"]) == (500, 13, 512)


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/chat/completions", "/tokenize"])
async def test_a_text_that_cannot_fit_is_refused_without_being_counted(path: str) -> None:
    text = "x" * 600_000
    messages = [{"role": "user", "content": text}]
    async with serving() as models, calling(models) as client:
        body = {"messages": messages} if "chat" in path else {"prompt": text}
        error = (await client.post(path, json=body)).json()["error"]
        assert error["code"] == "context_length_exceeded"
        assert "at least" in error["message"]
        assert 512 < error["prompt_tokens"] < 600_000


async def test_of_many_prompts_none_is_read_behind_one_that_is_too_long() -> None:
    async with serving() as models, calling(models) as client:
        refused = await client.post("/v1/completions", json={"prompt": ["x" * 600, 5]})
        assert refused.json()["error"]["prompt_tokens"] == 600


async def test_a_server_that_stops_says_so_to_those_whose_prompt_is_not_read_yet() -> None:
    async with serving() as models, calling(models) as client:
        may_end = threading.Event()
        held = [asyncio.create_task(models.workers.run(partial(may_end.wait, 20))) for _ in range(2)]
        await asyncio.sleep(0)
        asking = asyncio.create_task(client.post("/v1/chat/completions", json=CHAT))
        await until(lambda: len(models.workers._work) == 3)
        await models.stop(0.0)
        refused = await asking
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "engine_stopped")
        may_end.set()
        await asyncio.gather(*held, return_exceptions=True)


async def test_unknown_models_and_paths_are_not_found_and_wrong_methods_not_allowed() -> None:
    async with serving() as models, calling(models) as client:
        unknown = await client.post("/v1/chat/completions", json=CHAT | {"model": "other"})
        assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "model_not_found")
        nowhere = await client.get("/v1/nowhere")
        assert (nowhere.status_code, nowhere.json()["error"]["code"]) == (404, "not_found")
        assert (await client.get("/v1/completions")).status_code == 405


async def test_a_body_that_is_too_large_is_refused() -> None:
    async with serving() as models, calling(models, max_body_bytes=100) as client:
        assert (await client.post("/v1/completions", json={"prompt": "x" * 200})).status_code == 400


ONE_REQUEST = EngineRequest("other", (5, 6), SamplingParams(max_tokens=2))


async def test_an_overload_names_when_to_come_back() -> None:
    gate = Gate()
    async with serving(hash_runner(on_step=gate), max_open=1) as models, calling(models) as client:
        first = service_of(models).submit([ONE_REQUEST])
        refused = await client.post("/v1/chat/completions", json=CHAT)
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "overloaded")
        assert int(refused.headers["retry-after"]) >= 1
        gate.opened.set()
        assert [event async for event in first]
        assert (await client.post("/v1/chat/completions", json=CHAT)).status_code == 200


async def test_before_the_weights_are_read_health_and_calls_say_so() -> None:
    models = Models("tiny", "tiny-embeddings", loaded_at=0)
    async with calling(models) as client:
        health = await client.get("/health")
        assert (health.status_code, health.json()) == (
            503,
            {"status": "loading", "models": {"tiny": "loading", "tiny-embeddings": "loading"}},
        )
        assert (await client.get("/v1/models")).json()["data"] == []
        for path, body in (("/v1/chat/completions", CHAT), ("/v1/embeddings", {"input": "a"})):
            early = await client.post(path, json=body)
            assert (early.status_code, early.json()["error"]["code"]) == (503, "model_loading")
            assert "retry-after" in early.headers


async def test_health_follows_the_engines_progress() -> None:
    now = [0.0]
    gate = Gate()
    async with serving(hash_runner(on_step=gate), clock=lambda: now[0]) as models, calling(models) as client:
        assert (await client.get("/health")).status_code == 200
        stream = service_of(models).submit([ONE_REQUEST])
        now[0] = 31.0
        assert (await client.get("/health")).json()["status"] == "stalled"
        gate.opened.set()
        assert [event async for event in stream]
        assert (await client.get("/health")).status_code == 200


async def test_an_embedding_model_that_is_stuck_is_named_and_no_longer_listed() -> None:
    now = [0.0]
    gate = Gate()
    async with serving(encoder=LetterEncoder(gate), clock=lambda: now[0]) as models, calling(models) as client:
        asking = asyncio.create_task(client.post("/v1/embeddings", json={"input": "a"}))
        await until(gate.entered.is_set)
        now[0] = 31.0
        health = await client.get("/health")
        assert (health.status_code, health.json()["models"]["tiny-embeddings"]) == (200, "stalled")
        assert [entry["id"] for entry in (await client.get("/v1/models")).json()["data"]] == ["tiny"]
        gate.opened.set()
        assert (await asking).status_code == 200
        assert (await client.get("/health")).json()["models"]["tiny-embeddings"] == "ok"
        assert len((await client.get("/v1/models")).json()["data"]) == 2


async def test_metrics_are_prometheus_text() -> None:
    async with serving() as models, calling(models) as client:
        await client.post("/v1/chat/completions", json=CHAT)
        await client.post("/v1/chat/completions", json=CHAT)
        await until(lambda: is_idle(models))
        families = text_string_to_metric_families((await client.get("/metrics")).text)
        values = {sample.name: sample.value for family in families for sample in family.samples}
        assert values["sluice_engine_running"] == values["sluice_engine_blocks_used"] == 0
        assert values["sluice_engine_blocks_total"] == 256
        assert values["sluice_engine_prefix_hit_tokens_total"] > 0
        assert values["sluice_engine_generation_tokens_total"] <= 12


async def test_a_step_that_fails_is_a_500_or_an_error_that_ends_the_stream() -> None:
    steps = [0]

    def fail_later(plan: StepPlan) -> None:
        steps[0] += 1
        if steps[0] != 2:
            raise RuntimeError("hello")

    async with serving(hash_runner(on_step=fail_later)) as models, calling(models) as client:
        failed = await client.post("/v1/chat/completions", json=CHAT)
        assert (failed.status_code, failed.json()["error"]["code"]) == (500, "generation_failed")
        assert "hello" not in failed.text
        *_, last = data_of((await client.post("/v1/chat/completions", json=CHAT | {"stream": True})).text)
        assert last["error"]["code"] == "generation_failed"
        await until(lambda: is_idle(models))
