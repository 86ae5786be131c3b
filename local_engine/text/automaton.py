"""Many patterns, one pass: the automaton of Aho and Corasick (CACM 18(6), 1975)."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable


class Automaton:
    """Finds which of several patterns ends at each character of a text that arrives in pieces.

    State 0 is the start. A state stands for the longest suffix of the text so far that begins some pattern.

    Attributes:
        depth: By state, the length of that suffix: what could still become a match.
        match: By state, the longest pattern that ends here, or None.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self.depth: Final[list[int]] = [0]
        self.match: Final[list[str | None]] = [None]
        self._next: Final[list[dict[str, int]]] = [{}]
        self._fail: Final[list[int]] = [0]
        for pattern in patterns:
            self._insert(pattern)
        self._link()

    def step(self, state: int, char: str) -> int:
        """Return the state after one more character."""
        while state and char not in self._next[state]:
            state = self._fail[state]
        return self._next[state].get(char, 0)

    def _insert(self, pattern: str) -> None:
        if not pattern:
            raise ValueError("an empty pattern matches everywhere")
        state = 0
        for char in pattern:
            if char not in self._next[state]:
                self._next[state][char] = len(self.depth)
                self.depth.append(self.depth[state] + 1)
                self.match.append(None)
                self._next.append({})
                self._fail.append(0)
            state = self._next[state][char]
        self.match[state] = pattern

    def _link(self) -> None:
        """Point each state at its longest proper suffix that is a state too, nearest the root first."""
        queue = deque(self._next[0].values())
        while queue:
            state = queue.popleft()
            for char, child in self._next[state].items():
                self._fail[child] = self.step(self._fail[state], char)
                self.match[child] = self.match[child] or self.match[self._fail[child]]
                queue.append(child)
