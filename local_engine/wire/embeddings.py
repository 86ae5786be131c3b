"""Embedding bodies and their reply."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from local_engine.errors import InvalidRequest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from local_engine.wire.bodies import EmbeddingBody

_MAX_INPUTS = 2048


class EmbeddingUsage(Struct):
    """Tokens of the inputs."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingReply(Struct):
    """One vector: numbers, or base64 of little-endian float32."""

    index: int
    embedding: list[float] | str
    object: str = "embedding"


class EmbeddingsReply(Struct):
    """`POST /v1/embeddings`."""

    data: list[EmbeddingReply]
    model: str
    usage: EmbeddingUsage
    object: str = "list"


def wanted_texts(body: EmbeddingBody, dimensions: int) -> list[str]:
    """Return the texts to embed.

    Raises:
        InvalidRequest: The input is no text or list of texts, or vectors of another length are wanted.
    """
    if body.dimensions not in (None, dimensions):
        raise InvalidRequest(f"this model's vectors have {dimensions} dimensions and no other number", "dimensions")
    texts = [body.input] if isinstance(body.input, str) else body.input
    if not 0 < len(texts) <= _MAX_INPUTS:
        raise InvalidRequest(f"1 to {_MAX_INPUTS} inputs may be given", "input")
    if not all(isinstance(text, str) for text in texts):
        raise InvalidRequest("input must be text or a list of texts; token ids are not read", "input")
    return cast("list[str]", texts)


def wants_base64(body: EmbeddingBody) -> bool:
    """Return how vectors are to be written.

    Raises:
        InvalidRequest: Neither as numbers nor as base64.
    """
    if body.encoding_format not in (None, "float", "base64"):
        raise InvalidRequest("encoding_format must be float or base64", "encoding_format")
    return body.encoding_format == "base64"


def embeddings_reply(model: str, vectors: NDArray[np.float32], tokens: int, *, as_base64: bool) -> EmbeddingsReply:
    """Describe vectors [inputs, dimensions] in the order of the inputs."""

    def written(vector: NDArray[np.float32]) -> list[float] | str:
        return base64.b64encode(vector.astype("<f4").tobytes()).decode() if as_base64 else vector.tolist()

    data = [EmbeddingReply(index, written(vector)) for index, vector in enumerate(vectors)]
    return EmbeddingsReply(data, model, EmbeddingUsage(tokens, tokens))
