"""What a text cites, as Converse and as Messages point at it, each from the other.

Spec: the Amazon Bedrock API reference, `Citation` and `CitationLocation`; the Anthropic API reference, "Citations".
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from gateway.wire.fold import objects


class _Place(NamedTuple):
    """One kind of location: its type in Messages, and its fields there for those of Converse."""

    type: str
    fields: Mapping[str, str]


_PLACES = {
    "documentChar": _Place(
        "char_location",
        {"documentIndex": "document_index", "start": "start_char_index", "end": "end_char_index"},
    ),
    "documentPage": _Place(
        "page_location",
        {"documentIndex": "document_index", "start": "start_page_number", "end": "end_page_number"},
    ),
    "documentChunk": _Place(
        "content_block_location",
        {"documentIndex": "document_index", "start": "start_block_index", "end": "end_block_index"},
    ),
    "searchResultLocation": _Place(
        "search_result_location",
        {"searchResultIndex": "search_result_index", "start": "start_block_index", "end": "end_block_index"},
    ),
    "web": _Place("web_search_result_location", {"url": "url"}),
}
_BY_TYPE = {place.type: (name, place) for name, place in _PLACES.items()}
_IN_DOCUMENT = "document_index"


def to_citation(said: dict[str, Any]) -> dict[str, Any]:
    """Return the citation of Messages for one of Converse."""
    name, where = next(iter((said.get("location") or {}).items()), ("", {}))
    place = _PLACES.get(name, _Place("char_location", {}))
    at = {theirs: where[ours] for ours, theirs in place.fields.items() if ours in where}
    title = "document_title" if _IN_DOCUMENT in place.fields.values() else "title"
    about = {title: said.get("title")} | ({"source": said["source"]} if said.get("source") else {})
    cited = "".join(str(part.get("text") or "") for part in objects(said.get("sourceContent")))
    return {"type": place.type, "cited_text": cited} | at | about


def from_citation(citation: dict[str, Any]) -> dict[str, Any]:
    """Return the citation of Converse for one of Messages; of one that it has no place for, what it cites."""
    title = citation.get("document_title") or citation.get("title")
    about = {"title": title, "source": citation.get("source")}
    said: dict[str, Any] = {name: value for name, value in about.items() if value is not None}
    if citation.get("cited_text"):
        said["sourceContent"] = [{"text": citation["cited_text"]}]
    name, place = _BY_TYPE.get(str(citation.get("type")), ("", _Place("", {})))
    at = {ours: citation[theirs] for ours, theirs in place.fields.items() if theirs in citation}
    return said | ({"location": {name: at}} if at else {})
