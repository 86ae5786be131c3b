"""Vectors: from an embeddings request to a Gemini one, and the reply back.

Spec: the Gemini API reference, "Embeddings", `batchEmbedContents`.
"""

from base64 import b64encode
from struct import error as NotNumbers  # noqa: N812  what it means here
from struct import pack
from typing import Any

from gateway.dialects.gemini.names import to_resource
from gateway.dialects.gemini.usage import to_chat_usage
from gateway.errors import BadRequest

MOST_INPUTS = 100
"""The API refuses more in one request."""

_READ = frozenset({"model", "input", "dimensions", "encoding_format", "user", "metadata"})


def to_gemini_embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """Return the Gemini request for what `body`, an embeddings request that has been checked, asks for.

    Raises:
        BadRequest: a field cannot be said in this dialect; `param` names it.
    """
    for name, value in body.items():
        if name not in _READ and value is not None:
            raise BadRequest(f"{name!r} cannot be said to a provider of the Gemini API.", param=name)
    inputs: list[Any] = [body["input"]] if isinstance(body["input"], str) else body["input"]
    if not all(isinstance(text, str) for text in inputs):
        raise BadRequest("A provider of the Gemini API embeds text, not tokens.", param="input")
    if len(inputs) > MOST_INPUTS:
        raise BadRequest(f"A provider of the Gemini API embeds at most {MOST_INPUTS} texts at once.", param="input")
    asked: dict[str, Any] = {"model": to_resource(body["model"])}
    if body.get("dimensions") is not None:
        asked["outputDimensionality"] = body["dimensions"]
    return {"requests": [asked | {"content": {"parts": [{"text": text}]}} for text in inputs]}


def to_chat_embeddings(reply: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to the embeddings request `asked`, with its vectors as that wants them written.

    Where Gemini tells no usage, as its older models do not, there is none; where it tells no vectors, there is nothing.
    """
    try:
        vectors = [_written(entry["values"], asked.get("encoding_format")) for entry in reply["embeddings"]]
    except (KeyError, TypeError, NotNumbers):
        return {}
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    listed: dict[str, Any] = {"object": "list", "data": data, "model": asked["model"]}
    told = reply.get("usageMetadata")
    if not isinstance(told, dict):
        return listed
    usage = to_chat_usage(told)
    return listed | {"usage": {name: usage[name] for name in ("prompt_tokens", "total_tokens")}}


def _written(vector: list[float], encoding: str | None) -> list[float] | str:
    packed = pack(f"<{len(vector)}f", *vector)
    return b64encode(packed).decode() if encoding == "base64" else vector
