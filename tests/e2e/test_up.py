"""The whole thing as a person starts it: `sluice up`, the official SDK, a real model, and the ledger afterwards."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import msgspec
import pytest
from openai import InternalServerError, OpenAI
from openai.types.chat import ChatCompletionMessageParam

from local_engine.text.chat import ChatTemplate
from local_engine.text.tokenizer import Tokenizer
from tests.support.bundled import open_bundled

READY_S = 120.0
QUESTION = "What is the capital of France?"
SECRET_PROMPT = "the albatross flies at midnight"


@dataclass(frozen=True)
class Up:
    """A running `sluice up`."""

    process: subprocess.Popen[bytes]
    home: Path
    port: int
    log: Path

    @property
    def key(self) -> str:
        return (self.home / "demo.key").read_text().strip()

    def sdk(self) -> OpenAI:
        return OpenAI(base_url=f"http://127.0.0.1:{self.port}/v1", api_key=self.key, max_retries=0)

    def sluice(self, *line: str) -> str:
        return subprocess.run(  # noqa: S603  our own command
            [sys.executable, "-m", "gateway.cli", *line],
            cwd=self.home, env=environment(self.home, self.port), capture_output=True, check=True, text=True,
        ).stdout  # fmt: skip


def environment(home: Path, port: int) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLUICE_")}
    return kept | {"SLUICE_HOME": str(home), "PORT": str(port)}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def ready(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2) as reply:
            return reply.status == 200
    except OSError:
        return False


def until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + READY_S
    while not ready(port):
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Generator[Up]:
    open_bundled()
    folder = tmp_path_factory.mktemp("up")
    home, port, log = folder / "home", free_port(), folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "gateway.cli", "up"],
            cwd=folder, env=environment(home, port), stdout=output, stderr=output,
        )  # fmt: skip
    try:
        until_ready(process, port, log)
        yield Up(process, home, port, log)
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0, log.read_text()


def test_a_plain_and_a_streamed_answer_make_sense_and_count_the_same_tokens(up: Up) -> None:
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": QUESTION}]
    sdk = up.sdk()
    plain = sdk.chat.completions.create(model="auto", messages=messages, temperature=0)
    chunks = list(
        sdk.chat.completions.create(
            model="auto", messages=messages, temperature=0, stream=True,
            stream_options={"include_usage": True}, extra_headers={"cache-control": "no-cache"},
        )
    )  # fmt: skip
    sdk.close()
    said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)

    model = open_bundled()
    tokenizer = Tokenizer(model.vocabulary)
    prompt = len(ChatTemplate(model.chat_template or "", tokenizer).render([{"role": "user", "content": QUESTION}]))
    assert plain.choices[0].message.content == said
    assert "Paris" in said
    for usage in (plain.usage, chunks[-1].usage):
        assert usage is not None
        # The end mark is a token the model made and the text does not show.
        assert (usage.prompt_tokens, usage.completion_tokens) == (prompt, len(tokenizer.encode(said)) + 1)


def test_the_second_identical_call_is_free_and_spend_shows_both(up: Up) -> None:
    sdk = up.sdk()
    ask = sdk.chat.completions.with_raw_response.create
    first, second = (
        ask(model="auto", messages=[{"role": "user", "content": "Say hello."}], temperature=0, max_tokens=20)
        for _ in range(2)
    )
    sdk.close()

    assert Decimal(first.headers["x-sluice-cost-usd"]) > 0
    assert second.headers["x-sluice-cache"] == "exact"
    assert second.headers["x-sluice-cost-usd"] == "0.00"
    assert second.headers["x-sluice-saved-usd"] == first.headers["x-sluice-cost-usd"]

    report = spend_once_written(up, first.headers["x-request-id"], second.headers["x-request-id"])
    rows, total = report["rows"], report["total"]
    assert total["cached"] >= 1
    for column in ("requests", "cached", "input_tokens", "output_tokens"):
        assert sum(row[column] for row in rows) == total[column]
    for column in ("cost_usd", "saved_usd"):
        assert sum(Decimal(row[column]) for row in rows) == Decimal(total[column])


def spend_once_written(up: Up, *request_ids: str) -> dict[str, Any]:
    """Return the spend report once the ledger, which is written behind the answers, has these requests."""
    deadline = time.monotonic() + 10
    with sqlite3.connect(up.home / "sluice.db") as database:
        query = "SELECT count(*) FROM ledger_event WHERE kind = 'settled' AND request_id = ?"
        while not all(database.execute(query, (request_id,)).fetchone()[0] for request_id in request_ids):
            assert time.monotonic() < deadline
    database.close()
    return msgspec.json.decode(up.sluice("spend", "--json"))


def test_embeddings_come_from_the_bundled_model(up: Up) -> None:
    sdk = up.sdk()
    until_embedding(sdk)
    vectors = sdk.embeddings.create(model="all-minilm-l6-v2", input=["a cat", "a kitten", "the price of oil"]).data
    sdk.close()
    cat, kitten, oil = (vector.embedding for vector in vectors)

    def alike(one: list[float], other: list[float]) -> float:
        return sum(a * b for a, b in zip(one, other, strict=True))

    assert len(cat) == 384
    assert alike(cat, kitten) > alike(cat, oil)


def until_embedding(sdk: OpenAI) -> None:
    """Wait for the embedding model, which is loaded behind the chat model."""
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        try:
            sdk.embeddings.create(model="all-minilm-l6-v2", input="ready?")
        except InternalServerError:
            continue
        return
    pytest.fail("the embedding model did not come up")


def test_no_prompt_answer_or_secret_reaches_the_log(up: Up) -> None:
    sdk = up.sdk()
    answer = sdk.chat.completions.create(
        model="auto", messages=[{"role": "user", "content": SECRET_PROMPT}], max_tokens=16
    )
    sdk.close()
    log = up.log.read_text()

    assert SECRET_PROMPT not in log
    assert (answer.choices[0].message.content or "?") not in log
    assert up.key not in log
    assert up.key.rpartition("-")[2] not in log
    assert (up.home / "admin.key").read_text().strip() not in log


def test_the_gateway_stays_light_and_without_torch(up: Up) -> None:
    gateway = next(
        pid for pid in children(up.process.pid) if "serve" in command_of(pid) and "engine" not in command_of(pid)
    )
    resident_kb = int(
        next(line for line in proc(gateway, "status").splitlines() if line.startswith("VmRSS")).split()[1]
    )

    assert resident_kb < 150 * 1024
    assert "libtorch" not in proc(gateway, "maps")


def test_an_engine_that_is_killed_comes_back(up: Up) -> None:
    engine = next(pid for pid in children(up.process.pid) if "engine" in command_of(pid))
    os.kill(engine, signal.SIGKILL)
    deadline = time.monotonic() + READY_S
    while ready(up.port):
        assert time.monotonic() < deadline
    until_ready(up.process, up.port, up.log)
    sdk = up.sdk()
    answer = sdk.chat.completions.create(
        model="auto", messages=[{"role": "user", "content": QUESTION}], temperature=0, max_tokens=12,
        extra_headers={"cache-control": "no-cache"},
    )  # fmt: skip
    sdk.close()

    assert "Paris" in (answer.choices[0].message.content or "")


def children(parent: int) -> list[int]:
    return [int(pid) for pid in proc(parent, f"task/{parent}/children").split()]


def command_of(pid: int) -> list[str]:
    return proc(pid, "cmdline").split("\0")


def proc(pid: int, name: str) -> str:
    return Path(f"/proc/{pid}/{name}").read_text()
