"""What those who speak the OpenAI API say of an error, each in a shape of its own.

Spec: the error objects that OpenAI, Azure, vLLM, Text Generation Inference, Mistral, Cerebras, xAI and OpenRouter
document, and the validation errors of FastAPI.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.providers.replies import json_of

_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "context_length_exceeded": (
        "context length is only",
        "context length of only",
        "exceeds the available context size",
        "exceeds the context length",
        "exceeds the context window",
        "greater than the context length",
        "`inputs` tokens + `max_new_tokens` must be",
        "maximum context length",
        "maximum prompt length",
        "prompt is too long",
    ),
    "content_filter": ("content violates usage guidelines",),
    "invalid_api_key": ("incorrect api key", "invalid api key"),
}
"""How they word what their codes, or even the status, do not tell."""


def error_of(body: bytes) -> dict[str, Any]:
    """Return the error object of a chat for the body of a refusal; without a message where it says nothing."""
    return to_error(json_of(body))


def to_error(said: object) -> dict[str, Any]:
    """Return the error object of a chat for a body or an event that tells of an error, wherever that stands in it."""
    whole = said[0] if isinstance(said, list) and said else said
    if not isinstance(whole, dict):
        return {"message": "", "type": None, "param": None, "code": None}
    error = whole.get("error") or whole
    inner: dict[str, Any] = error if isinstance(error, dict) else whole | {"message": error}
    message = _sentence(inner.get("message") or inner.get("detail"))
    param, kind = inner.get("param"), inner.get("type") or whole.get("error_type")
    return {
        "message": message,
        "type": kind if isinstance(kind, str) else None,
        "param": param if isinstance(param, str) else None,
        "code": _code(inner, message),
    }


def _code(error: Mapping[str, Any], message: str) -> str | int | None:
    lowered = message.lower()
    worded = next((code for code, words in _WORDS.items() if any(part in lowered for part in words)), None)
    about = error.get("metadata")
    if isinstance(about, dict) and "flagged_input" in about:
        worded = "content_filter"
    code = worded or error.get("code")
    return code if isinstance(code, str | int) else None


def _sentence(said: object) -> str:
    """Return what a message says: a sentence, or what a validator lists, each with the place that it means."""
    match said:
        case str():
            return said
        case {"detail": detail}:
            return _sentence(detail)
        case {"msg": str(text), "loc": list(place)}:
            return f"{'.'.join(str(step) for step in place)}: {text}"
        case list():
            return "; ".join(filter(None, map(_sentence, said)))
        case _:
            return ""
