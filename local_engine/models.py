"""What this process serves: a text model and an embedding model, each from the moment it is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from local_engine.engine import Engine
from local_engine.errors import ModelFileInvalid, ModelLoading, ModelNotFound
from local_engine.load.bundled import PACKAGE, RECOMMENDED, bundled_model
from local_engine.schedule.costs import measure_speeds
from local_engine.service import Service
from local_engine.text.chat import ChatTemplate
from local_engine.text.tokenizer import Tokenizer
from local_engine.wire.prepare import TextModel
from local_engine.wire.sampling import ModelLimits, SamplingDefaults

if TYPE_CHECKING:
    from collections.abc import Callable

    from local_engine.config import EngineConfig
    from local_engine.embedder import Embedder
    from local_engine.schedule.costs import Speeds


@dataclass(frozen=True, slots=True, eq=False)
class ServedText:
    """A loaded text model: how its prompts are read, the service that continues them, and its measured speeds."""

    text: TextModel
    service: Service
    speeds: Speeds


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
        self._text_name = text_name
        self._embedding_name = embedding_name

    @property
    def has_embeddings(self) -> bool:
        """Whether there is to be an embedding model."""
        return self._embedding_name is not None

    @property
    def is_ready(self) -> bool:
        """Whether text can be generated and the engine makes progress."""
        return self.text is not None and self.text.service.is_healthy

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
        """Stop the models that are loaded; requests in flight get `grace_s` seconds to finish."""
        if self.text is not None:
            await self.text.service.stop(grace_s)
        if self.embedder is not None:
            await self.embedder.close()


def load_text(
    config: EngineConfig, threads: int, clock: Callable[[], float], draw_seed: Callable[[], int]
) -> ServedText:
    """Load the text model, measure it and wrap it in a service that is not started.

    Takes seconds, some of them to import torch: so that the process can answer before, only this function does.

    Args:
        config: The process's settings.
        threads: Compute threads.
        clock: Seconds, monotonic.
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
    template = ChatTemplate(file.chat_template, tokenizer) if file.chat_template is not None else None
    speeds = measure_speeds(runner, clock)
    engine = Engine(runner, tokenizer, sample, config.batching, clock)
    service = Service(
        engine,
        max_open=config.batching.max_running + config.max_queue,
        stall_after_s=config.stall_after_s,
        clock=clock,
        on_start=partial(torch.set_num_threads, threads),
    )
    defaults = SamplingDefaults() if config.model_path else SamplingDefaults(*RECOMMENDED)
    limits = ModelLimits(engine.limit, engine.vocab_size, draw_seed, defaults)
    return ServedText(TextModel(config.model_name, tokenizer, template, limits), service, speeds)
