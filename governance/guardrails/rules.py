"""The rules over what goes in and comes out, as the policy has them in force."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from governance.guardrails.patterns.scanning import PatternScanner
from governance.guardrails.scanning import Scanner, Span
from governance.guardrails.segments import DetectorScanner
from governance.sensitivity import detect

if TYPE_CHECKING:
    from governance.guardrails.schema import Schema
    from governance.sensitivity import Kind

On = Literal["input", "output"]
Action = Literal["block", "redact", "flag"]
_BLOCK: Final = "private_key"
_NO_NAME: Final = re.compile(r"[^A-Z0-9]+")


@dataclass(frozen=True, slots=True)
class Matching:
    """Looks for a pattern."""

    pattern: re.Pattern[str]

    def scanner(self, name: str, *, whole: bool) -> Scanner:
        """Return what follows one text; what it finds is called by the rule's `name`."""
        del whole
        return PatternScanner(self.pattern, name)


@dataclass(frozen=True, slots=True)
class Detecting:
    """Looks for kinds of sensitive text."""

    kinds: tuple[Kind, ...]

    def scanner(self, name: str, *, whole: bool) -> Scanner:
        """Return what follows one text. With `whole` that comes in one piece, and is read as one."""
        del name
        return _Whole(self._spans) if whole else DetectorScanner(self._spans, _BLOCK)

    def _spans(self, text: str) -> Sequence[Span]:
        return [Span(found.start, found.end, found.kind) for found in detect(text, self.kinds)]


@dataclass(frozen=True, slots=True)
class Length:
    """Looks at how long a text is, in characters."""

    most: int


@dataclass(frozen=True, slots=True)
class Shaped:
    """Looks at whether an answer is JSON of a certain shape."""

    schema: Schema


@dataclass(frozen=True, slots=True)
class Topics:
    """Looks at what a question is about, by sentences of the kind.

    Attributes:
        sentences: what they are.
        allowed: they are what may be asked; otherwise what may not.
        threshold: the cosine from which on a question is about the same as a sentence.
    """

    sentences: tuple[str, ...]
    allowed: bool
    threshold: float


@dataclass(frozen=True, slots=True)
class Injection:
    """Looks for texts that would have a model follow them instead of its instructions.

    Attributes:
        threshold: the probability from which on a text is one; None as the head that comes with us says.
    """

    threshold: float | None


LooksFor = Matching | Detecting | Length | Shaped | Topics | Injection


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule.

    Attributes:
        name: what the policy calls it.
        on: what it is about.
        action: what happens to what it finds.
        looks_for: what that is.
        applies_to: the teams, apps (`team/app`) and features (`team/app/feature`) it is for; empty for all.
        reversible: what it redacts of a request is put back in the answer, for whoever asked.
    """

    name: str
    on: On
    action: Action
    looks_for: LooksFor
    applies_to: frozenset[str] = frozenset()
    reversible: bool = False

    @property
    def by_meaning(self) -> bool:
        """Whether texts must be placed by an embedding for it."""
        return isinstance(self.looks_for, Topics | Injection)


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a policy, in its order."""

    all: tuple[Rule, ...]

    def of(self, on: On, team: str, app: str, feature: str | None) -> tuple[Rule, ...]:
        """Return the rules for what a caller's request says, or what it is answered."""
        scopes = {team, f"{team}/{app}", f"{team}/{app}/{feature}"}
        return tuple(r for r in self.all if r.on == on and (not r.applies_to or not scopes.isdisjoint(r.applies_to)))


def label_of(kind: str) -> str:
    """Name a kind of text as it stands in place of what was redacted: `EMAIL`, `BLOCKED_TERMS`."""
    return _NO_NAME.sub("_", kind.upper()).strip("_") or "REDACTED"


class _Whole:
    """Reads a text as one, when it has ended."""

    def __init__(self, find: Callable[[str], Sequence[Span]]) -> None:
        self._find = find
        self._text = ""
        self._told = 0

    def feed(self, piece: str) -> None:
        self._text += piece

    def settle(self, *, ended: bool) -> tuple[list[Span], int]:
        if not ended:
            return [], self._told
        before, self._told = self._told, len(self._text)
        spans = [Span(max(before, s.start), s.end, s.kind) for s in self._find(self._text) if s.end > before]
        return spans, self._told
