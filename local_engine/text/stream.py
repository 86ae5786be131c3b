"""A sequence's text as it is generated: bytes in, text out, ending at the first stop string."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING

from local_engine.text.automaton import Automaton

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Piece:
    """What a feed gave.

    Attributes:
        text: Text that can be sent now.
        stopped: The stop string that was met, or None.
    """

    text: str
    stopped: str | None


class TextMachine:
    """Turns a sequence's bytes into text, whatever the cuts between tokens.

    An unfinished character is held back, and so is the shortest ending that may yet become a stop string. The stop
    string that ends first wins; of several that end at the same character, the longest. Bytes that are no UTF-8 become
    U+FFFD.
    """

    def __init__(self, stop: Sequence[str], include_stop: bool) -> None:
        self._automaton = Automaton(stop)
        self._include_stop = include_stop
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._state = 0
        self._held = ""
        self._stopped: str | None = None

    def feed(self, data: bytes) -> Piece:
        """Take a token's bytes and return the text that is now certain; nothing more after a stop."""
        return self._advance(self._decoder.decode(data))

    def flush(self) -> str:
        """Return what was held back, when a sequence ends without a stop string."""
        last = self._advance(self._decoder.decode(b"", final=True))
        held, self._held, self._state = self._held, "", 0
        return last.text + held

    def _advance(self, text: str) -> Piece:
        if self._stopped is not None:
            return Piece("", self._stopped)
        for index, char in enumerate(text):
            self._state = self._automaton.step(self._state, char)
            stop = self._automaton.match[self._state]
            if stop is not None:
                whole = self._held + text[: index + 1]
                self._held, self._stopped = "", stop
                return Piece(whole if self._include_stop else whole.removesuffix(stop), stop)
        whole = self._held + text
        safe = len(whole) - self._automaton.depth[self._state]
        self._held = whole[safe:]
        return Piece(whole[:safe], None)
