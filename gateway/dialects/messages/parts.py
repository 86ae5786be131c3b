"""What stands in a content: blocks of Messages and parts of a chat message, each from the other.

Text is the same in both, and a block that chat has no word for is its own part. Whatever a block holds beside what
chat names, such as `cache_control`, stays beside it.
"""

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from typing import Any

from gateway.errors import BadRequest


def to_content(content: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Return the content of a chat message that says what `content` of Messages says."""
    return content if isinstance(content, str) else [_to_part(block) for block in content]


def from_content(content: str | list[dict[str, Any]], path: str) -> str | list[dict[str, Any]]:
    """Return the content of Messages that says what the `content` at `path` of a chat body says.

    Raises:
        BadRequest: a part cannot be said; `param` is its path.
    """
    if isinstance(content, str):
        return content
    return [_from_part(part, f"{path}[{index}]") for index, part in enumerate(content)]


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return what `value` holds beside `names`."""
    return {name: part for name, part in value.items() if name not in names}


def _to_part(block: dict[str, Any]) -> dict[str, Any]:
    source = block.get("source")
    if block["type"] == "image":
        return without(block, "source") | {"type": "image_url", "image_url": _image_url(block["source"])}
    if block["type"] == "document" and isinstance(source, dict) and source["type"] != "content":
        name = {} if block.get("title") is None else {"filename": block["title"]}
        return without(block, "source", "title") | {"type": "file", "file": _file(source) | name}
    return block


def _image_url(source: dict[str, Any]) -> dict[str, Any]:
    match source["type"]:
        case "base64":
            return {"url": _data_url(source["media_type"], source["data"])}
        case "url":
            return {"url": source["url"]}
        case _:
            return {"file_id": source["file_id"]}


def _file(source: dict[str, Any]) -> dict[str, Any]:
    match source["type"]:
        case "base64":
            return {"file_data": _data_url(source["media_type"], source["data"])}
        case "text":
            return {"file_data": _data_url("text/plain", b64encode(source["data"].encode()).decode())}
        case "url":
            return {"file_url": source["url"]}
        case _:
            return {"file_id": source["file_id"]}


def _data_url(media_type: str, data: str) -> str:
    return f"data:{media_type};base64,{data}"


def _from_part(part: dict[str, Any], path: str) -> dict[str, Any]:
    match part["type"]:
        case "image_url":
            source = _image_source(part["image_url"], f"{path}.image_url")
            return without(part, "image_url") | {"type": "image", "source": source}
        case "file":
            title = part["file"].get("filename")
            named = {} if title is None else {"title": title}
            source = _file_source(part["file"], f"{path}.file")
            return without(part, "file") | {"type": "document", "source": source} | named
        case "refusal":
            return without(part, "refusal") | {"type": "text", "text": part["refusal"]}
        case _:
            return part


def _image_source(image: dict[str, Any], path: str) -> dict[str, Any]:
    if image.get("detail") == "low":
        raise BadRequest("This model sees every image in full; 'detail' cannot be 'low'.", param=f"{path}.detail")
    if image.get("file_id") is not None:
        return {"type": "file", "file_id": image["file_id"]}
    if image.get("url") is None:
        raise BadRequest("An image needs a 'url'.", param=f"{path}.url")
    return _source(image["url"], f"{path}.url")


def _file_source(file: dict[str, Any], path: str) -> dict[str, Any]:
    if file.get("file_id") is not None:
        return {"type": "file", "file_id": file["file_id"]}
    if file.get("file_url") is not None:
        return {"type": "url", "url": file["file_url"]}
    if file.get("file_data") is None:
        raise BadRequest("A file needs 'file_data', 'file_url' or 'file_id'.", param=path)
    source = _source(file["file_data"], f"{path}.file_data")
    if source.get("media_type") != "text/plain":
        return source
    try:
        return {"type": "text", "media_type": "text/plain", "data": b64decode(source["data"], validate=True).decode()}
    except (NotBase64, UnicodeDecodeError):
        raise BadRequest("A file of plain text must be UTF-8 in base64.", param=f"{path}.file_data") from None


def _source(url: str, path: str) -> dict[str, Any]:
    if url.startswith(("https://", "http://")):
        return {"type": "url", "url": url}
    head, _, data = url.partition(",")
    media_type = head.removeprefix("data:").partition(";")[0]
    if not (head.startswith("data:") and head.endswith(";base64") and media_type):
        raise BadRequest("This must be an https URL, or a data URL in base64 with its media type.", param=path)
    return {"type": "base64", "media_type": media_type, "data": data}
