"""Addresses of e-mail (RFC 5322, RFC 6531), also where somebody writes them out: name (at) host dot org."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOCAL: Final = 64
_LOCAL_PART: Final = re.compile(r"[\w.!#$%'*+/=?^`{|}~-]*\w[\w+-]*$|\"[^\"\n]{1,62}\"$")
_HOST: Final = re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}(xn--[a-z0-9-]{2,59}|[^\W\d_]{2,24})(?![\w-])")
_FILES: Final = frozenset(
    [
        "png",
        "jpg",
        "jpeg",
        "gif",
        "svg",
        "webp",
        "css",
        "js",
        "ts",
        "tsx",
        "jsx",
        "json",
        "html",
        "xml",
        "yaml",
        "yml",
        "py",
        "rb",
        "go",
        "rs",
        "java",
        "md",
        "txt",
        "pdf",
        "so",
        "dll",
        "exe",
    ]
)
_AT: Final = r"\s{0,2}(?:[(\[{<]\s?(?:at|@|arroba|ät)\s?[)\]}>]|\s(?:at|arroba)\s)\s{0,2}"
_DOT: Final = (
    r"(?:\s{0,2}[(\[{<]\s?(?:dot|punkt|point|punto|ponto|\.)\s?[)\]}>]\s{0,2}|\s(?:dot|punkt|punto|ponto)\s|\.)"
)
_WRITTEN: Final = re.compile(
    rf"(?i)(?<![\w.+-])[a-z0-9][\w+-]{{0,40}}(?:{_DOT}[\w+-]{{1,40}}){{0,3}}{_AT}[a-z0-9-]{{1,60}}(?:{_DOT}[a-z0-9-]{{2,60}}){{1,4}}(?![\w])"
)
_MARKED: Final = re.compile(r"(?i)[(\[{<]\s?(?:at|@|arroba|ät)|\s(?:dot|punkt|punto|ponto)\s|[(\[{<]\s?(?:dot|punkt)")


def find(text: str) -> Iterator[tuple[int, int]]:
    """Yield where addresses are."""
    at = text.find("@")
    while at >= 0:
        yield from _around(text, at)
        at = text.find("@", at + 1)
    if _MARKED.search(text):
        for match in _WRITTEN.finditer(text):
            if _MARKED.search(match[0]):
                yield match.start(), match.end()


def _around(text: str, at: int) -> Iterator[tuple[int, int]]:
    before = text[max(0, at - _LOCAL) : at]
    local, host = _LOCAL_PART.search(before), _HOST.match(text, at + 1)
    if local is None or host is None or host[1].lower() in _FILES:
        return
    if local[0] == "git" and text[host.end() : host.end() + 1] == ":":
        return  # where a repository is, by ssh
    lead = len(local[0]) - len(local[0].lstrip(".'`/=|{*"))
    yield at - len(local[0]) + lead, host.end()
