"""Small engines behind the real service and the real HTTP surface."""

from __future__ import annotations

import threading
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from local_engine.config import Batching
from local_engine.embed.embedder import Embedder, Encoder
from local_engine.engine import Engine
from local_engine.measure.machine import Machine
from local_engine.measure.probe import Speeds
from local_engine.models import Models, ServedText
from local_engine.sample.sampler import sample
from local_engine.server import Api, create_app
from local_engine.service import Service
from local_engine.text.chat import ChatTemplate
from local_engine.wire.prepare import TextModel
from local_engine.wire.sampling import ModelLimits
from tests.support.hash_engine import HashRunner
from tests.support.tiny_text import TINY_TEMPLATE, tiny_tokenizer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from numpy.typing import NDArray
    from starlette.applications import Starlette

    from local_engine.types import Runner, StepPlan

TINY = "tiny"
TINY_EMBEDDINGS = "tiny-embeddings"


@dataclass(slots=True)
class Gate:
    """Holds a runner before each step until it is let through; give it to `HashRunner.on_step`, or to an encoder."""

    entered: threading.Event = field(default_factory=threading.Event)
    opened: threading.Event = field(default_factory=threading.Event)

    def __call__(self, plan: StepPlan | None = None) -> None:
        self.entered.set()
        if not self.opened.wait(20):
            raise TimeoutError("nobody opened the gate")


class LetterEncoder:
    """Implements `Encoder`: a vector counts letters, a word is a token. A gate holds it before each batch."""

    dimensions = 26
    limit = 8

    def __init__(self, gate: Callable[[], object] | None = None) -> None:
        self.batches: list[int] = []
        self._gate = gate

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.batches.append(len(texts))
        if self._gate is not None:
            self._gate()
        vectors = np.array([[text.count(chr(97 + i)) + 1e-6 for i in range(26)] for text in texts], np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def hash_runner(**fields: object) -> HashRunner:
    """Build a model of hashes with the tiny vocabulary."""
    return HashRunner(vocab_size=260, max_context=512, num_blocks=256, **fields)  # pyright: ignore[reportArgumentType] -- tests name fields freely


@asynccontextmanager
async def serving(
    runner: Runner | None = None,
    *,
    batching: Batching | None = None,
    max_open: int = 64,
    stall_after_s: float = 30.0,
    clock: Callable[[], float] = time.monotonic,
    encoder: Encoder | None = None,
) -> AsyncGenerator[Models, None]:
    """Serve a small model; everything in flight is ended when the context is left."""
    tokenizer = tiny_tokenizer()
    machine = Machine(clock)
    probed = Speeds(prefill=1000.0, decode=50.0)
    engine = Engine(runner or hash_runner(), tokenizer, sample, batching or Batching(), machine, probed)
    service = Service(engine, max_open=max_open, stall_after_s=stall_after_s, clock=clock)
    seeds = count(1)
    limits = ModelLimits(engine.limit, engine.vocab_size, lambda: next(seeds))
    text = TextModel(TINY, tokenizer, ChatTemplate(TINY_TEMPLATE, tokenizer), limits)
    models = Models(TINY, TINY_EMBEDDINGS, loaded_at=1_700_000_000)
    models.text = ServedText(text, service)
    reading = Speeds(prefill=2000.0, decode=None)
    models.embedder = Embedder(
        TINY_EMBEDDINGS, encoder or LetterEncoder(), reading, machine, stall_after_s=stall_after_s
    )
    service.start()
    try:
        yield models
    finally:
        await models.stop(0.0)


def app_of(models: Models, max_body_bytes: int = 1 << 20) -> Starlette:
    """Lay out the API over models, with ids that count and a clock that stands still."""
    ids = count(1)
    api = Api(models, max_body_bytes=max_body_bytes, now=lambda: 1_700_000_000.0, new_id=lambda: f"{next(ids)}")
    return create_app(api)


def engine_of(models: Models) -> Engine:
    """Reach the engine behind the models, to look at its cache once it stands still."""
    assert models.text is not None
    return models.text.service._engine  # pyright: ignore[reportPrivateUsage] -- only tests look inside


def service_of(models: Models) -> Service:
    """Return the text model's service."""
    assert models.text is not None
    return models.text.service


def is_idle(models: Models) -> bool:
    """Whether every request has ended and no block is held."""
    engine = engine_of(models)
    return not engine.has_work and engine.cache.available == engine.cache.total


class Pace:
    """Lets a runner make as many steps as it was given; give it to `HashRunner.on_step`."""

    def __init__(self) -> None:
        self._permits = threading.Semaphore(0)

    def __call__(self, plan: StepPlan) -> None:
        if not self._permits.acquire(timeout=20):
            raise TimeoutError("nobody let the runner go on")

    def allow(self, steps: int) -> None:
        """Let it make so many more steps."""
        self._permits.release(steps)

    def is_idle_after_another(self, models: Models) -> bool:
        """Let it make one step more and say whether the engine has come to rest."""
        self.allow(1)
        return is_idle(models)
