"""Which places of a text could still become the beginning of a match, when the text goes on.

Thompson, "Regular Expression Search Algorithm" (CACM 1968): all ways through a pattern are followed at the same time,
one character after another, so that the work is the same for every text. The automaton takes a pattern for what reads
at least as much as it: looking ahead is a way of its own, looking back always succeeds, and what an earlier group read
again may be anything. A place that it has given up is therefore decided, whatever comes next.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from governance.guardrails.patterns.characters import Reads, anything, reads_of, remembered
from governance.policy.patterns import LONGEST_TEXT

# As in `governance/policy/patterns.py`.
from re import _parser as parser  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]  # isort: skip

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Sequence

_MOST_STATES: Final = 2_000
"""Beyond these, a repeat is taken for one of any length."""

_WITHIN_REACH: Final = (1 << LONGEST_TEXT) - 1
"""The places from which a match has not read all that it may."""

_LOOK_AT_NEXT: Final = frozenset({"AT_END", "AT_END_STRING", "AT_BOUNDARY", "AT_NON_BOUNDARY"})


@dataclass(slots=True, eq=False)
class _State:
    """A place in a pattern.

    Attributes:
        reads: what it reads to go on; None when it reads nothing.
        asks: it must know what comes next, without reading it.
        out: where it goes on.
    """

    reads: Reads | None = None
    asks: bool = False
    out: list[_State] = field(default_factory=list["_State"])
    after: tuple[_State, ...] = ()

    @property
    def open(self) -> bool:
        """Whether it needs another character to know."""
        return self.asks or self.reads is not None


class Automaton:
    """A pattern, made to follow; `Threads` follow it.

    Attributes:
        first: where it begins.
        begins: says whether a match may begin with a character.
    """

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._states: list[_State] = []
        begin = self._build(parser.parse(pattern.pattern, pattern.flags), self._state())
        for state in self._states:
            state.after = _closure(state.out)
        first = tuple(state for state in _closure([begin]) if state.open)
        self.first = first
        self.begins = remembered(lambda c: any(state.reads is not None and state.reads(c) for state in first))

    def _state(self, *out: _State, reads: Reads | None = None, asks: bool = False) -> _State:
        state = _State(reads, asks, list(out))
        self._states.append(state)
        return state

    def _build(self, steps: object, after: _State) -> _State:
        for code, argument in reversed(cast("Sequence[tuple[object, object]]", steps)):
            after = self._step(str(code), argument, after)
        return after

    def _step(self, code: str, argument: object, after: _State) -> _State:
        match code:
            case "SUBPATTERN" | "ATOMIC_GROUP":
                body = cast("tuple[object, ...]", argument)[-1] if code == "SUBPATTERN" else argument
                return self._build(body, after)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                return self._repeat(*cast("tuple[int, int, object]", argument), after)
            case "AT":
                return self._at(str(argument), after)
            case "BRANCH" | "GROUPREF_EXISTS" | "ASSERT" | "ASSERT_NOT" | "FAILURE":
                return self._fork(code, argument, after)
            case _:
                return self._read(reads_of(code, argument), after)

    def _read(self, reads: Reads | None, after: _State) -> _State:
        if reads is None:  # a group read again, or what this version of Python knows beyond this file
            return self._loop(lambda again: self._state(again, reads=anything), after)
        return self._state(after, reads=reads)

    def _fork(self, code: str, argument: object, after: _State) -> _State:
        """Go several ways; the way that only looks ahead leads nowhere."""
        match code:
            case "BRANCH":
                ways = cast("tuple[object, Sequence[object]]", argument)[1]
                return self._state(*(self._build(way, after) for way in ways))
            case "GROUPREF_EXISTS":
                either = [way for way in cast("tuple[object, ...]", argument)[1:] if way is not None]
                return self._state(after, *(self._build(way, after) for way in either))
            case "FAILURE":
                return self._state()
            case _:
                direction, body = cast("tuple[int, object]", argument)
                return after if direction < 0 else self._state(after, self._build(body, self._state()))

    def _at(self, where: str, after: _State) -> _State:
        if where not in _LOOK_AT_NEXT:
            return after
        state = self._state(after, asks=True)
        if where == "AT_END":  # also before a line end, if that is the last
            state.out.append(self._state(self._state(asks=True), reads=lambda c: c == "\n"))
        return state

    def _repeat(self, low: int, high: int, body: object, after: _State) -> _State:
        before = len(self._states)
        once = self._build(body, after)
        each = len(self._states) - before
        most = min(high, LONGEST_TEXT)
        if before + each * most > _MOST_STATES:
            return self._loop(lambda again: self._build(body, again), after)
        if high > LONGEST_TEXT:
            after, most = self._loop(lambda again: self._build(body, again), after), low
            once = after if low == 0 else self._build(body, after)
        if most == 0:
            return after
        for copy in range(most, 0, -1):
            here = once if copy == most else self._build(body, after)
            after = here if copy <= low else self._state(here, after)
        return after

    def _loop(self, body: Callable[[_State], _State], after: _State) -> _State:
        again = self._state(after)
        again.out.append(body(again))
        return again


class Threads:
    """What of a pattern is under way in one text. Places are counted from the beginning of the text.

    For each state there is a number, whose bits are the places it was come to from: the bit of 2^n stands for the place
    n characters before the end.
    """

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._at = 0
        self._alive: dict[_State, int] = {}

    def skip(self, place: int) -> None:
        """Go on at a later place, with nothing under way."""
        self._at, self._alive = place, {}

    def read(self, text: str) -> None:
        """Follow the text that comes next."""
        for c in text:
            if not self._alive and not self._automaton.begins(c):
                self._at += 1
                continue
            alive = dict[_State, int]()
            for state, begun in (*self._alive.items(), *((state, 1) for state in self._automaton.first)):
                if state.reads is not None and state.reads(c):
                    since = (begun << 1) & _WITHIN_REACH
                    for following in state.after:
                        if following.open:
                            alive[following] = alive.get(following, 0) | since
            self._alive = alive
            self._at += 1

    def undecided(self, since: int) -> int:
        """Return the first place, not before `since`, that may yet begin another match than the text so far says.

        That is the end of the text when there is none.
        """
        later = (2 << (self._at - since)) - 1
        oldest = max(((begun & later).bit_length() for begun in self._alive.values()), default=0)
        return self._at - max(oldest - 1, 0)


@lru_cache(maxsize=256)
def automaton_of(pattern: re.Pattern[str]) -> Automaton:
    """Return the automaton of a pattern; those of a policy are made once."""
    return Automaton(pattern)


def _closure(states: Iterable[_State]) -> tuple[_State, ...]:
    """Return all places that are reached from some without reading."""
    found, rest = dict[_State, None](), list(states)
    while rest:
        state = rest.pop()
        if state not in found:
            found[state] = None
            if state.reads is None:
                rest += state.out
    return tuple(found)
