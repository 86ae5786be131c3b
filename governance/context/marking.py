"""What a user has pasted beside the question: text between marks that prompts are built with.

Recognised are elements such as `<document>…</document>`, fences such as ```` ```context ````, and sections under a
line such as `Context:`. All else is taken for the user's own words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES: Final = (
    r"documents?|docs?|context|sources?|passages?|search_results?|results?|retrieved|chunks?|snippets?|excerpts?|"
    r"file|files|transcript|logs?|knowledge|articles?"
)
_ELEMENT: Final = re.compile(rf"<(?P<name>{_NAMES})(?:\s[^<>]*)?>.*?</(?P=name)>", re.DOTALL | re.IGNORECASE)
_FENCE: Final = re.compile(rf"^```(?:{_NAMES})[^\S\n]*\n.*?^```[^\S\n]*$", re.DOTALL | re.IGNORECASE | re.MULTILINE)
_TITLE: Final = re.compile(
    r"^[#*\s]*(?:relevant |retrieved |reference |background |the following )?"
    r"(?:context|documents?|sources?|passages?|search results?|results|excerpts?|references|background|knowledge|"
    r"article|transcript|logs?|information)[*]*:[*]*[^\S\n]*",
    re.IGNORECASE | re.MULTILINE,
)
_QUESTION: Final = re.compile(
    r"^[#*\s]*(?:user |my |the )?(?:question|query|task|request|instructions?|user|answer)[*]*:",
    re.IGNORECASE | re.MULTILINE,
)
ITEM: Final = re.compile(
    r"<(?P<item>document|doc|source|passage|search_result|result|chunk|snippet|excerpt|article|file)(?:\s[^<>]*)?>"
    r"(?P<inside>(?:(?!<(?P=item)[\s>]).)*?)</(?P=item)>",
    re.DOTALL | re.IGNORECASE,
)
"""One of several that stand beside each other."""


def pasted(text: str) -> list[tuple[int, int]]:
    """Return where pasted text begins and ends, in order; what follows without a word between them is one."""
    if "<" not in text and "```" not in text and ":" not in text:
        return []
    found = sorted((match.start(), match.end()) for one in (_ELEMENT, _FENCE) for match in one.finditer(text))
    apart: list[tuple[int, int]] = []
    for start, end in (*found, *(() if found else _sections(text))):
        if apart and not text[apart[-1][1] : start].strip():
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


def _sections(text: str) -> Iterator[tuple[int, int]]:
    """Find sections under a title: up to the question, or to the end where there are words of the user before it."""
    at = 0
    while title := _TITLE.search(text, at):
        question = _QUESTION.search(text, title.end())
        own_line = text[title.end() : title.end() + 1] in {"\n", "\r"}
        if question is None and not (own_line and text[: title.start()].strip()):
            return
        at = len(text) if question is None else question.start()
        yield title.end(), at


def unlabelled(text: str) -> str:
    """Return the words of a user without the labels of a template, such as `Question:`."""
    return _TITLE.sub("", _QUESTION.sub("", text)).strip()
