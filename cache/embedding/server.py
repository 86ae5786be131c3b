"""A process that embeds by sentence-transformers, for whoever started it: `python -m cache.embedding.server MODEL`.

It reads and writes the messages of `frames.py` on its standard streams, one at a time, and ends when its input does.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from cache.embedding.frames import Failed, Message, Ready, Texts, Vectors, next_frame, write_frame

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


def main(model: str) -> None:
    """Load a model and serve until nobody asks any more."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
        try:
            transformer = _load(model)
        except Exception as error:  # noqa: BLE001  whatever it is, it is said where it can be read
            _say(answers, Failed(f"{model}: {_reason(error)}"))
            return
        _say(answers, Ready(transformer.get_embedding_dimension() or 0))
        while isinstance(message := next_frame(sys.stdin.buffer), Texts):
            _say(answers, _answer(transformer, message.texts))


def _load(model: str) -> SentenceTransformer:
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415  if this fails, that can be said

    return SentenceTransformer(model, device=os.environ.get("SLUICE_EMBEDDING_DEVICE", "cpu"))


def _answer(transformer: SentenceTransformer, texts: tuple[str, ...]) -> Message:
    try:
        vectors = transformer.encode(
            list(texts), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return Vectors(np.asarray(vectors, np.float32).tobytes())
    except Exception as error:  # noqa: BLE001  these texts cannot be embedded; the next ones may
        return Failed(_reason(error))


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _say(answers: BinaryIO, message: Message) -> None:
    answers.write(write_frame(message))
    answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])
