"""Vectors: models that make them are invoked, not conversed with, and each maker has words of its own.

Spec: the Amazon Bedrock user guide, "Amazon Titan Text Embeddings models" and "Cohere Embed models".
"""

import struct
from base64 import b64encode
from typing import Any

from gateway.errors import BadRequest

_TITAN, _COHERE = "amazon.titan-embed", "cohere.embed"
_READ = frozenset({"model", "input", "dimensions", "encoding_format", "user", "input_type"})
_PURPOSE = "search_document"
"""What Cohere's models take a text for where the request does not say in `input_type`."""


def to_invocation(body: dict[str, Any]) -> dict[str, Any]:
    """Return the body that asks a model for what `body`, an embeddings request that has been checked, asks for.

    Raises:
        BadRequest: the model is of another maker, or a field cannot be said to it; `param` names it.
    """
    for name, value in body.items():
        if name not in _READ and value is not None:
            raise BadRequest(f"{name!r} cannot be said to an embedding model of Bedrock.", param=name)
    model, texts, length = body["model"], _texts(body["input"]), body.get("dimensions")
    if _TITAN in model:
        if len(texts) > 1 or body.get("input_type") is not None:
            param = "input" if len(texts) > 1 else "input_type"
            raise BadRequest("Amazon's embedding models take one text at a time, whatever it is for.", param=param)
        return {"inputText": texts[0]} | ({} if length is None else {"dimensions": length})
    if _COHERE in model:
        asked = {"texts": texts, "input_type": body.get("input_type") or _PURPOSE, "embedding_types": ["float"]}
        return asked | ({} if length is None else {"output_dimension": length})
    raise BadRequest("Of Bedrock's models, those of Titan Embed and Cohere Embed make embeddings.", param="model")


def to_embeddings(reply: dict[str, Any], asked: dict[str, Any], read: str) -> dict[str, Any]:
    """Return the reply to the embeddings request `asked`; empty where it holds no vectors.

    Args:
        reply: the body, in the words of the model's maker.
        asked: the request, in OpenAI's.
        read: the tokens that the model has read, as a header tells them, which Cohere's models do in no other place.
    """
    vectors = _vectors(reply)
    if not vectors:
        return {}
    packed = asked.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": index, "embedding": _packed(vector) if packed else vector}
        for index, vector in enumerate(vectors)
    ]
    count = reply.get("inputTextTokenCount")
    if read.isascii() and read.isdigit():
        count = int(read)
    usage = {"usage": {"prompt_tokens": count, "total_tokens": count}} if type(count) is int else {}
    return {"object": "list", "data": data, "model": asked["model"]} | usage


def _texts(given: Any) -> list[str]:
    texts: list[Any] = given if isinstance(given, list) else [given]
    if not all(isinstance(text, str) for text in texts):
        raise BadRequest("Bedrock's models embed text, not tokens.", param="input")
    return texts


def _vectors(reply: dict[str, Any]) -> list[list[float]]:
    if isinstance(reply.get("embedding"), list):
        return [reply["embedding"]]
    told = reply.get("embeddings")
    vectors = told.get("float") if isinstance(told, dict) else told
    return vectors if isinstance(vectors, list) and all(isinstance(vector, list) for vector in vectors) else []


def _packed(vector: list[float]) -> str:
    """Numbers of 32 bits, the least byte first."""
    return b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
