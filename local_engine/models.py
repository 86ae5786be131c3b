"""What this process serves: a text model and an embedding model, each from the moment it is loaded."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from local_engine.engine import Engine
from local_engine.errors import ModelFileInvalid, ModelLoading, ModelNotFound
from local_engine.load.bundled import PACKAGE, RECOMMENDED, bundled_model
from local_engine.measure.probe import measure_speeds
from local_engine.service import Service
from local_engine.text.chat import ChatTemplate
from local_engine.text.tokenizer import Tokenizer
from local_engine.wire.prepare import TextModel
from local_engine.wire.sampling import ModelLimits, SamplingDefaults
from local_engine.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable

    from local_engine.config import EngineConfig
    from local_engine.embed.embedder import Embedder
    from local_engine.measure.machine import Machine
    from local_engine.measure.probe import Speeds
    from local_engine.measure.throughput import Throughput


_WORKERS = 2
_STATES = {None: "loading", True: "ok", False: "stalled"}


@dataclass(frozen=True, slots=True, eq=False)
class ServedText:
    """A loaded text model: how its prompts are read, and the service that continues them."""

    text: TextModel
    service: Service

    @property
    def speeds(self) -> Speeds:
        """How fast it is of late."""
        return self.service.stats.throughput.speeds


class Models:
    """The models of this process; empty at first, filled as they load.

    Args:
        text_name: The name of the text model.
        embedding_name: The name of the embedding model; None when there is to be none.
        loaded_at: When the process began to serve, in Unix seconds.
    """

    def __init__(self, text_name: str, embedding_name: str | None, loaded_at: int) -> None:
        self.loaded_at = loaded_at
        self.text: ServedText | None = None
        self.embedder: Embedder | None = None
        self.workers = Workers(_WORKERS)
        self._text_name = text_name
        self._embedding_name = embedding_name

    @property
    def has_embeddings(self) -> bool:
        """Whether there is to be an embedding model."""
        return self._embedding_name is not None

    @property
    def status(self) -> str:
        """How the process is: as its text model."""
        return self.states[self._text_name]

    @property
    def states(self) -> dict[str, str]:
        """How each model is: "ok", "loading" or "stalled"."""
        models = {self._text_name: None if self.text is None else self.text.service.is_healthy}
        if self._embedding_name is not None:
            models[self._embedding_name] = None if self.embedder is None else self.embedder.is_healthy
        return {name: _STATES[is_healthy] for name, is_healthy in models.items()}

    @property
    def throughputs(self) -> dict[str, Throughput]:
        """What each model that is loaded has computed, by its name."""
        text = {} if self.text is None else {self.text.text.name: self.text.service.stats.throughput}
        return text if self.embedder is None else text | {self.embedder.name: self.embedder.throughput}

    def text_model(self, name: str | None) -> ServedText:
        """Return the text model.

        Raises:
            ModelNotFound: Another name was given.
            ModelLoading: It is not loaded yet.
        """
        if name is not None and name != self._text_name:
            raise ModelNotFound(name)
        if self.text is None:
            raise ModelLoading(self._text_name)
        return self.text

    def embedding_model(self, name: str | None) -> Embedder:
        """Return the embedding model.

        Raises:
            ModelNotFound: Another name was given, or there is none.
            ModelLoading: It is not loaded yet.
        """
        if self._embedding_name is None or (name is not None and name != self._embedding_name):
            raise ModelNotFound(name or "embeddings")
        if self.embedder is None:
            raise ModelLoading(self._embedding_name)
        return self.embedder

    async def stop(self, grace_s: float) -> None:
        """Stop the models that are loaded; what they compute now gets `grace_s` seconds to finish."""
        self.workers.close()
        text = [] if self.text is None else [self.text.service.stop(grace_s)]
        embedder = [] if self.embedder is None else [self.embedder.close(grace_s)]
        await asyncio.gather(*text, *embedder)


def load_text(config: EngineConfig, threads: int, machine: Machine, draw_seed: Callable[[], int]) -> ServedText:
    """Load the text model, measure it and wrap it in a service that is not started.

    Takes seconds, some of them to import torch: so that the process can answer before, only this function does.

    Args:
        config: The process's settings.
        threads: Compute threads.
        machine: What computes it.
        draw_seed: Draws a seed for requests that name none.

    Raises:
        ModelFileInvalid: There is no model file, or it cannot be trusted.
    """
    import torch  # noqa: PLC0415

    from local_engine.load.model_file import open_model  # noqa: PLC0415
    from local_engine.model.runner import PagedRunner  # noqa: PLC0415
    from local_engine.sample.sampler import sample  # noqa: PLC0415

    torch.set_num_threads(threads)
    path = config.model_path or bundled_model()
    if path is None:
        raise ModelFileInvalid(Path(PACKAGE), "the package with the model is not installed")
    file = open_model(path)
    runner = PagedRunner.build(
        file.spec,
        file.read_weights(),
        numerics=config.numerics,
        num_blocks=config.blocks,
        block_size=config.block_size,
    )
    tokenizer = Tokenizer(file.vocabulary)
    try:
        template = ChatTemplate(file.chat_template, tokenizer) if file.chat_template is not None else None
        probed = measure_speeds(runner, machine.clock)
    except ValueError as error:
        raise ModelFileInvalid(path, str(error)) from error
    engine = Engine(runner, tokenizer, sample, config.batching, machine, probed)
    service = Service(
        engine,
        max_open=config.batching.max_running + config.max_queue,
        stall_after_s=config.stall_after_s,
        clock=machine.clock,
        on_start=partial(torch.set_num_threads, threads),
    )
    defaults = SamplingDefaults() if config.model_path else SamplingDefaults(*RECOMMENDED)
    limits = ModelLimits(engine.limit, engine.vocab_size, draw_seed, defaults)
    return ServedText(TextModel(config.model_name, tokenizer, template, limits), service)
