"""Kinds of text found in what comes in pieces, by detectors that must see a whole text.

A detector has no beginnings that could still become a finding; it has a text or it has not. So a text is cut where no
finding crosses: after a plain word, one of letters alone. What lies between two cuts, and some text before it, is shown
to the detectors as soon as it is complete, so in prose no more is held back than the word that is being written, and in
what looks like numbers, addresses or keys as much as looks like it. A block that begins as a key in PEM does is one
piece up to its end. Where the cuts are does not depend on the pieces that the text came in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from governance.guardrails.scanning import Span

Detect = Callable[[str], Sequence[Span]]
"""Finds all of some kinds in a whole text."""

_LONGEST: Final = 4_096
"""A segment without a cut is cut after so many characters."""

_LONGEST_BLOCK: Final = 32_768
"""A block that has begun and not ended after so many characters is taken for what it began as."""

_BEFORE: Final = 512
"""Characters before a segment that the detectors see as well."""

_SIGN: Final = "[\u3001-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""A sign of a script that has no spaces between its words; it ends whatever stands before it."""

_WORD: Final = re.compile(rf"(?:(?!{_SIGN})\S)*+(?:\s+|{_SIGN})")
_PLAIN: Final = re.compile(
    rf"""[("']?(?:(?!{_SIGN})[^\W\d_](?:(?!{_SIGN})[^\W\d_A-Z])*+['\u2019-]?+){{0,4}}+[.,;!?)"']{{0,2}}(?:\s+|{_SIGN})"""
)
_LONGEST_WORD: Final = 24
_OPEN: Final = re.compile(r"-{2,5} ?BEGIN|PuTTY-User-Key-File")
_CLOSED: Final = re.compile(r"-{2,5} ?END[^\n]{0,64}?-{2,5}|Private-MAC:\s?[0-9a-f]{1,128}")


class DetectorScanner:
    """Finds what detectors find."""

    def __init__(self, detect: Detect, block: str) -> None:
        """Begin with an empty text; `block` is the kind of a block that has no end."""
        self._detect = detect
        self._block = block
        self._text = ""
        self._first = 0  # the place of the first character that is still known
        self._at = 0  # where the segment begins that is not complete
        self._word = 0  # where the word begins that is not complete
        self._loud = False  # the segment holds another word than plain ones

    def feed(self, piece: str) -> None:
        """Take in what comes next."""
        self._text += piece

    def settle(self, *, ended: bool) -> tuple[list[Span], int]:
        """Return what was found in the segments that are complete, and where the next one begins."""
        found = list[Span]()
        while (cut := self._cut()) is not None:
            found += self._segment(cut)
        end = self._first + len(self._text)
        if ended and end > self._at:
            self._loud = True
            found += self._segment(end)
        self._forget()
        return found, self._at

    def _cut(self) -> int | None:
        """Return where the present segment ends; None as long as that is not known."""
        while True:
            begin = self._at - self._first
            opened = _OPEN.search(self._text, begin, self._word - self._first)
            if opened is not None:
                self._loud = True
                longest = opened.start() + _LONGEST_BLOCK
                closed = _CLOSED.search(self._text, opened.end(), longest)
                if closed is not None and closed.end() < len(self._text):  # one more dash, or digit, may come
                    return self._first + closed.end()
                return self._first + longest if len(self._text) >= longest else None
            word = _WORD.match(self._text, self._word - self._first, begin + _LONGEST)
            if word is None or (word.end() == len(self._text) and word[0][-1].isspace()):  # more of it may come
                if len(self._text) - begin < _LONGEST:
                    return None
                self._loud = True
                return self._at + _LONGEST
            self._word = self._first + word.end()
            if len(word[0]) <= _LONGEST_WORD and _PLAIN.fullmatch(word[0]):
                return self._word
            self._loud = True

    def _segment(self, end: int) -> list[Span]:
        """Show a segment to the detectors, and begin the next one after it."""
        begin, self._at, loud = self._at, end, self._loud
        self._word, self._loud = max(self._word, end), False
        if not loud:
            return []
        before = max(self._first, begin - _BEFORE)
        text = self._text[before - self._first : end - self._first]
        spans = [Span(max(begin, before + s.start), before + s.end, s.kind) for s in self._detect(text)]
        opened = _last(text)
        if opened is not None and _CLOSED.search(text, opened) is None and "PRIVATE KEY" in text[opened : opened + 64]:
            spans.append(Span(max(begin, before + opened), end, self._block))
        return [span for span in spans if span.end > begin]

    def _forget(self) -> None:
        beyond = self._at - self._first - 2 * _BEFORE
        if beyond > _BEFORE:
            self._text = self._text[beyond:]
            self._first += beyond


def _last(text: str) -> int | None:
    """Return where the last block begins."""
    begins = [opened.start() for opened in _OPEN.finditer(text)]
    return begins[-1] if begins else None
