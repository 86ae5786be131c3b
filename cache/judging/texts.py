"""What of an answer is words, and what is code; how it is set does not count."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_FENCED = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
_SET = re.compile(
    r"^[ \t]*(?:#{1,6}|[-*+>]|\d{1,3}[.)])[ \t]+|\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)", re.MULTILINE
)
_CHUNK = 120  # words, which are some 160 to 200 tokens


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to be compared.

    Attributes:
        words: Its text without code blocks and without Markdown, white space made single.
        code: Its code blocks in order, without their indentation, empty lines and the space at the ends of lines.
    """

    words: str
    code: tuple[str, ...]

    @property
    def chunks(self) -> list[str]:
        """The words in parts that an embedding reads whole."""
        words = self.words.split(" ")
        return [" ".join(words[start : start + _CHUNK]) for start in range(0, len(words), _CHUNK)]

    @property
    def bare(self) -> str:
        """The words without case and punctuation, except what stands inside a word or a number."""
        return " ".join(word.strip(".,;:!?\"'()") for word in self.words.casefold().split())


def read_answer(text: str) -> Answer:
    """Take an answer apart."""
    code = tuple(_trimmed(match[2]) for match in _FENCED.finditer(text))
    words = _SET.sub("", _LINK.sub(r"\1 \2", _FENCED.sub("\n", text)))
    return Answer(" ".join(unicodedata.normalize("NFKC", words).split()), code)


def _trimmed(block: str) -> str:
    lines = [line.rstrip() for line in block.expandtabs(4).splitlines() if line.strip()]
    indent = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    return "\n".join(line[indent:] for line in lines)
