"""How reasons are written down: files of `phrases/`, one phrase a line.

A file has sections. `:: the weather` begins one and names its reason; a line `needs rain snow` lists words without one
of which nothing there can match, which spares most of the matching; every other line is a regular expression over
folded text, and one of them is enough. `let goods = …` at the top of a file is written `{goods}` below.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_FOLDER = Path(__file__).with_name("phrases")
_NAMED = re.compile(r"\{([a-z]+)\}")


@dataclass(frozen=True, slots=True)
class Sign:
    """One way in which a reason shows.

    Attributes:
        what: The reason in a few words.
        needs: Words of which the pattern matches at least one.
        pattern: What to find in the folded text.
    """

    what: str
    needs: frozenset[str]
    pattern: re.Pattern[str]


def read_signs(name: str) -> tuple[Sign, ...]:
    """Read a file of phrases.

    Args:
        name: Its name, without `.txt`.
    """
    head, *sections = re.split(r"(?m)^:: ", (_FOLDER / f"{name}.txt").read_text(encoding="utf-8"))
    named = dict(re.findall(r"(?m)^let (\w+) = (.+)$", head))
    return tuple(_sign(section.splitlines(), named) for section in sections)


def _sign(lines: list[str], named: dict[str, str]) -> Sign:
    what, *rest = [line for line in lines if line]
    needs = [line.removeprefix("needs ") for line in rest if line.startswith("needs ")]
    phrases = [line for line in rest if not line.startswith("needs ")]
    pattern = _NAMED.sub(lambda found: named[found.group(1)], "|".join(phrases))
    return Sign(what, words(" ".join(needs)), re.compile(pattern))


def words(listed: str) -> frozenset[str]:
    """Return the words of a list written with spaces between."""
    return frozenset(listed.split())


def first(signs: Iterable[Sign], text: str, words: frozenset[str]) -> str | None:
    """Return the reason of the first sign that the text shows.

    Args:
        signs: What to look for, in order.
        text: The folded text.
        words: Its words.
    """
    for one in signs:
        if not words.isdisjoint(one.needs) and one.pattern.search(text):
            return one.what
    return None
