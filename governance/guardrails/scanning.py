"""What rules look for in a text that comes in pieces, and the promise that all of them keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text that a rule has found.

    Attributes:
        start: its first character, counted from the beginning of the text.
        end: the character after its last.
        kind: what it is: a detector's kind, or the name of the rule.
    """

    start: int
    end: int
    kind: str


class Scanner(Protocol):
    """Follows one text. What it finds does not depend on the pieces that the text came in."""

    def feed(self, piece: str) -> None:
        """Take in what comes next."""
        ...

    def settle(self, *, ended: bool) -> tuple[list[Span], int]:
        """Return what was found since the last time, and the place before which nothing more will be.

        Args:
            ended: Nothing comes after this, so that all of it is decided. Should more come nevertheless, it is read
                together with the end of what came before; what of that was found then begins where the new text does.
        """
        ...
