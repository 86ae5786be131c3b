"""Vectors: from an embeddings request to a Gemini one, and the reply back.

Spec: the Gemini API reference, "Embeddings", `batchEmbedContents`.
"""

from typing import Any

from gateway.dialects.gemini.usage import to_chat_usage
from gateway.errors import BadRequest, UpstreamError

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
    asked: dict[str, Any] = {"model": f"models/{body['model'].removeprefix('models/')}"}
    if body.get("dimensions") is not None:
        asked["outputDimensionality"] = body["dimensions"]
    return {"requests": [asked | {"content": {"parts": [{"text": text}]}} for text in inputs]}


def to_chat_embeddings(reply: dict[str, Any], provider: str, model: str) -> dict[str, Any]:
    """Return the reply to an embeddings request, its vectors as numbers.

    Where Gemini tells no usage, as its older models do not, there is none.

    Raises:
        UpstreamError: it holds no vectors.
    """
    try:
        vectors = [entry["values"] for entry in reply["embeddings"]]
    except (KeyError, TypeError) as error:
        raise UpstreamError(f"Provider {provider!r} answered without embeddings.", provider) from error
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    listed: dict[str, Any] = {"object": "list", "data": data, "model": model}
    told = reply.get("usageMetadata")
    if not isinstance(told, dict):
        return listed
    usage = to_chat_usage(told)
    return listed | {"usage": {name: usage[name] for name in ("prompt_tokens", "total_tokens")}}
