"""Which embedding it is: the bundled model through onnxruntime, any other in a process of its own."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from cache.errors import EmbeddingMissing

if TYPE_CHECKING:
    from cache.embedding import Embedding
    from cache.embedding.batching import Limits

BUNDLED: Final = "all-MiniLM-L6-v2"


async def open_embedding(model: str = BUNDLED, *, threads: int = 1, limits: Limits | None = None) -> Embedding:
    """Open an embedding, ready to be used.

    Args:
        model: The bundled model, or whatever sentence-transformers knows: a name or a folder.
        threads: CPU threads of one computation.
        limits: How much may wait, and how long; as is right for the model where it is None.

    Raises:
        EmbeddingMissing: What it needs is not installed.
        EmbeddingUnavailable: It is installed and cannot be opened.
    """
    if model == BUNDLED and _has("onnxruntime", "tokenizers"):
        from cache.embedding.minilm.embedding import MiniLMEmbedding  # noqa: PLC0415  only where it is installed

        return await MiniLMEmbedding.open(threads=threads, limits=limits)
    raise EmbeddingMissing(model, "sluicegate[semantic]")


def _has(*modules: str) -> bool:
    return all(find_spec(module) for module in modules)
