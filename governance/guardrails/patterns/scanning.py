"""Where a pattern matches in a text that comes in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance.guardrails.patterns.automaton import Threads, automaton_of
from governance.guardrails.scanning import Span
from governance.policy.patterns import LONGEST_TEXT

if TYPE_CHECKING:
    import re

_BEHIND: Final = 2 * LONGEST_TEXT
"""Characters that stay behind what is decided, for a pattern that looks back."""


class PatternScanner:
    """Finds the matches of a pattern, from left to right and apart from each other.

    A place is decided as soon as no text to come can change what the pattern makes of it: what is held back is the
    shortest end of the text that may yet be the beginning of a match.
    """

    def __init__(self, pattern: re.Pattern[str], kind: str) -> None:
        self._pattern = pattern
        self._kind = kind
        self._automaton = automaton_of(pattern)
        self._threads = Threads(self._automaton)
        self._text = ""
        self._first = 0  # the place of the first character that is still known
        self._at = 0  # the place from which on nothing is decided
        self._floor = 0  # what lies before it is told already
        self._followed = 0

    def feed(self, piece: str) -> None:
        """Take in what comes next."""
        self._text += piece

    def settle(self, *, ended: bool) -> tuple[list[Span], int]:
        """Return the matches since the last time, and the place before which no other will be."""
        end = self._first + len(self._text)
        if not ended:
            self._follow(end)
        found, until = list[Span](), end if ended else self._threads.undecided(self._at)
        while self._at < until:
            here = self._at - self._first
            match = None
            if self._automaton.begins(self._text[here]):
                match = self._pattern.match(self._text, here, here + LONGEST_TEXT)
            if match is None or match.end() == here:
                self._at += 1
                continue
            self._at = self._first + match.end()
            until = end if ended else self._threads.undecided(self._at)
            if self._at > self._floor:
                found.append(Span(max(self._floor, self._first + here), self._at, self._kind))
        told = max(self._at, self._floor)
        if ended:  # read again what may go on
            self._floor = end
            self._at = max(self._first, min(self._at, end - LONGEST_TEXT))
        self._forget()
        return found, told

    def _follow(self, end: int) -> None:
        begin = max(self._followed, end - LONGEST_TEXT)
        if begin > self._followed:
            self._threads.skip(begin)
        self._threads.read(self._text[begin - self._first :])
        self._followed = end

    def _forget(self) -> None:
        beyond = self._at - self._first - _BEHIND
        if beyond > LONGEST_TEXT:
            self._text = self._text[beyond:]
            self._first += beyond
