"""How the engine is set up: frozen values with the defaults of a small machine."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from local_engine.types import Numerics


class AdmissionKind(StrEnum):
    """When a waiting sequence may join the running ones (`schedule/policies.py`)."""

    CONTINUOUS = "continuous"
    DYNAMIC = "dynamic"
    STATIC = "static"


@dataclass(frozen=True, slots=True)
class Batching:
    """How much one step may do.

    Attributes:
        step_tokens: Tokens computed in one step, over all sequences; at least `max_running`, so that each may decode.
        max_running: Sequences that hold cache blocks at the same time.
        prefix_cache: Whether computed blocks are kept for later prompts that begin alike.
        admission: When waiting sequences may join.
        window_s: How long the dynamic admission waits for a batch to fill, in seconds.
    """

    step_tokens: int = 512
    max_running: int = 32
    prefix_cache: bool = True
    admission: AdmissionKind = AdmissionKind.CONTINUOUS
    window_s: float = 0.05

    def __post_init__(self) -> None:
        if not 1 <= self.max_running <= self.step_tokens:
            raise ValueError(f"1 <= max_running ({self.max_running}) <= step_tokens ({self.step_tokens}) must hold")


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """One engine process.

    Attributes:
        uds: Path of the Unix socket to listen on; when None, `host` and `port` are used.
        model_path: A GGUF file; None for the bundled one.
        model_name: The name the model answers to.
        numerics: Arithmetic of the model.
        threads: Compute threads; 0 for as many as this process may use.
        blocks: Blocks in the KV pool.
        block_size: Tokens in a block.
        max_queue: Sequences that may wait beyond the running ones before new requests are refused.
        stall_after_s: Seconds without a finished step, while there is work, after which the engine is unhealthy.
        stop_grace_s: Seconds that requests in flight get to finish when the process is told to stop.
        max_body_bytes: Largest request body.
        embeddings: Whether the embedding model is loaded too.
        exit_with_parent: Whether the process ends when the one that started it does.
    """

    uds: Path | None = None
    host: str = "127.0.0.1"
    port: int = 8100
    model_path: Path | None = None
    model_name: str = "smollm2-135m-instruct"
    numerics: Numerics = Numerics.Q4
    threads: int = 0
    blocks: int = 2048
    block_size: int = 16
    batching: Batching = field(default_factory=Batching)
    max_queue: int = 256
    stall_after_s: float = 30.0
    stop_grace_s: float = 3.0
    max_body_bytes: int = 8 << 20
    embeddings: bool = True
    exit_with_parent: bool = True
