"""Pictures and documents, from Messages to Converse.

Spec: the Amazon Bedrock API reference, `ImageBlock` and `DocumentBlock`. Both want the file in the request itself.
"""

import re
from typing import Any

from gateway.errors import BadRequest

_IMAGES = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
_OFFICE = "application/vnd.openxmlformats-officedocument"
_DOCUMENTS = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "application/msword": "doc",
    f"{_OFFICE}.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    f"{_OFFICE}.spreadsheetml.sheet": "xlsx",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
}
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9()\[\]-]+")
_LONGEST_NAME = 150
_NAMELESS = "document"


def to_image(source: dict[str, Any], path: str) -> dict[str, Any]:
    """Return the picture in `source` of the block at `path`.

    Raises:
        BadRequest: it is not in the request, or not in a format that Converse knows.
    """
    return {"format": _format(source, _IMAGES, path), "source": {"bytes": source["data"]}}


def to_document(block: dict[str, Any], path: str) -> dict[str, Any]:
    """Return the document in the `block` at `path`; its name may be that of another one in the request.

    Raises:
        BadRequest: it is not in the request, or not in a format that Converse knows.
    """
    source, said = block["source"], {"name": _name(block.get("title") or _NAMELESS)}
    said |= {name: block[name] for name in ("context", "citations") if block.get(name) is not None}
    match source["type"]:
        case "text":
            return said | {"format": "txt", "source": {"text": source["data"]}}
        case "content":
            return said | {"source": {"content": _texts(source["content"], path)}}
        case _:
            return said | {"format": _format(source, _DOCUMENTS, path), "source": {"bytes": source["data"]}}


def tell_apart(documents: list[dict[str, Any]]) -> None:
    """Number the documents of a request that have the same name, which Converse refuses."""
    known: dict[str, int] = {}
    for document in documents:
        name = document["name"]
        while document["name"] in known:
            known[name] += 1
            document["name"] = f"{name} ({known[name]})"
        known[document["name"]] = 1


def _name(title: str) -> str:
    stem, dot, ending = title.rpartition(".")
    plain = _NOT_IN_A_NAME.sub(" ", stem if dot and ending.isalnum() else title).strip()
    return plain[:_LONGEST_NAME].strip() or _NAMELESS


def _format(source: dict[str, Any], formats: dict[str, str], path: str) -> str:
    if source["type"] != "base64":
        raise BadRequest("This provider reads only what is in the request: send it as a data URL.", param=path)
    found = formats.get(source["media_type"])
    if found is None:
        raise BadRequest(f"This provider cannot read {source['media_type']!r}.", param=path)
    return found


def _texts(content: str | list[dict[str, Any]], path: str) -> list[dict[str, str]]:
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if any(part["type"] != "text" for part in parts):
        raise BadRequest("A document that is made of parts may hold only text here.", param=path)
    return [{"text": part["text"]} for part in parts]
