"""From a part of a chat's content to a part of a Gemini content.

Spec: the Gemini API reference, `Part`; its guide "File input methods" for addresses on the web.
"""

from mimetypes import guess_type
from typing import Any
from urllib.parse import urlsplit

from gateway.dialects.gemini.chat_body import AudioPart, FilePart, ImagePart, ImageUrl, Seen, Text
from gateway.errors import BadRequest


def to_part(part: Seen, path: str) -> dict[str, Any]:
    """Return the part of a content that says what `part`, at `path` of the body, says.

    Raises:
        BadRequest: it cannot be said; `param` is its path.
    """
    match part:
        case Text():
            return {"text": part.text}
        case ImagePart():
            return _image(part.image_url, f"{path}.image_url")
        case AudioPart():
            return _inline(f"audio/{part.input_audio.format}", part.input_audio.data)
        case FilePart():
            return _file(part, f"{path}.file")


def _image(image: ImageUrl, path: str) -> dict[str, Any]:
    if image.detail == "low":
        raise BadRequest("This model sees every image in full; 'detail' cannot be 'low'.", param=f"{path}.detail")
    part = (_data if image.url.startswith("data:") else _address)(image.url, f"{path}.url")
    (media,) = part.values()
    if not media["mimeType"].startswith("image/"):
        raise BadRequest(
            "This is no picture: send what else there is to see or to read as a file.", param=f"{path}.url"
        )
    return part


def _file(part: FilePart, path: str) -> dict[str, Any]:
    if part.file.file_data is not None:
        return _data(part.file.file_data, f"{path}.file_data")
    if part.file.file_url is not None:
        return _address(part.file.file_url, f"{path}.file_url")
    raise BadRequest("A file needs 'file_data' or 'file_url'.", param=path)


def _data(url: str, path: str) -> dict[str, Any]:
    head, _, data = url.partition(",")
    media_type = head.removeprefix("data:").partition(";")[0]
    if not (head.startswith("data:") and head.endswith(";base64") and media_type):
        raise BadRequest("This must be a data URL in base64 with its media type.", param=path)
    return _inline(media_type, data)


def _inline(media_type: str, data: str) -> dict[str, Any]:
    return {"inlineData": {"mimeType": media_type, "data": data}}


def _address(url: str, path: str) -> dict[str, Any]:
    """Say where something is. The API wants to be told what it is, and only the end of an address can tell."""
    try:
        where = urlsplit(url)
    except ValueError:
        where = urlsplit("")
    media_type, _ = guess_type(where.path, strict=False)
    if where.scheme not in {"https", "http", "gs"} or media_type is None:
        text = "This must be an address that ends with the extension of a known type, or a data URL in base64."
        raise BadRequest(text, param=path)
    return {"fileData": {"mimeType": media_type, "fileUri": url}}
