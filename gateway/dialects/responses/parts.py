"""Content both ways: `input_text`, `input_image` and `input_file` here are `text`, `image_url` and `file` there."""

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.dialects.responses.shape.items import (
    AnyPart,
    Content,
    InputAudio,
    InputFile,
    InputImage,
    InputText,
    OutputText,
    Refusal,
)
from gateway.errors import BadRequest

_FILE = ("file_data", "file_id", "file_url", "filename", "detail")
_CACHE = "prompt_cache_breakpoint"
_HINTS = frozenset({_CACHE, "cache_control"})


def to_chat_content(content: Content, path: str) -> str | list[dict[str, Any]]:
    """Return content as the chat form has it.

    Raises:
        BadRequest: an image is in a store, where only its own provider could find it.
    """
    if isinstance(content, str):
        return content
    return [_to_chat(part, f"{path}[{index}]") for index, part in enumerate(content)]


def _to_chat(part: AnyPart, path: str) -> dict[str, Any]:
    match part:
        case Refusal(refusal=refusal):
            return {"type": "refusal", "refusal": refusal}
        case OutputText(text=text):
            return {"type": "text", "text": text}
        case InputText(text=text):
            said: dict[str, Any] = {"type": "text", "text": text}
        case InputAudio(input_audio=audio):
            said = {"type": "input_audio", "input_audio": audio}
        case InputFile():
            said = {"type": "file", "file": present({name: getattr(part, name) for name in _FILE})}
        case InputImage(image_url=None):
            raise BadRequest(
                "Send the image itself as 'image_url'; no stored file can be read here.", f"{path}.file_id"
            )
        case InputImage():
            said = {"type": "image_url", "image_url": present({"url": part.image_url, "detail": part.detail})}
    return said | present({_CACHE: part.prompt_cache_breakpoint})


def from_chat_content(content: str | Sequence[Mapping[str, Any]], role: str, path: str) -> str | list[dict[str, Any]]:
    """Return what someone in `role` says as this dialect has it.

    Raises:
        BadRequest: with the path of a part that this dialect has no word for.
    """
    if isinstance(content, str):
        return content
    return [_from_chat(part, role, f"{path}[{index}]") for index, part in enumerate(content)]


def _from_chat(part: Mapping[str, Any], role: str, path: str) -> dict[str, Any]:
    kind = part.get("type")
    held = part.get(kind) if isinstance(kind, str) else None
    match kind, held:
        case "text", str():
            said: dict[str, Any] = {"type": "output_text" if role == "assistant" else "input_text", "text": held}
        case "refusal", str():
            said = {"type": "refusal", "refusal": held}
        case "input_audio", dict():
            said = {"type": "input_audio", "input_audio": held}
        case "file", dict():
            said = held | {"type": "input_file"}
        case "image_url", {"url": str(url), **more} if more.keys() <= {"detail"}:
            said = more | {"type": "input_image", "image_url": url}
        case _:
            raise BadRequest(f"A part of type {kind!r} cannot be sent to this model's provider.", f"{path}.type")
    for name in part:
        if name not in {"type", kind} | _HINTS:
            raise BadRequest(f"{name!r} cannot be sent to this model's provider.", f"{path}.{name}")
    return said | present({_CACHE: part.get(_CACHE)})


def present(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are not null."""
    return {name: value for name, value in fields.items() if value is not None}
