r"""One text on its way through the rules: what they let pass of it, piece by piece.

All rules read the same text, and what two of them find that overlaps is one finding, under the name of the first. A
piece goes on as soon as every rule that could keep it back has decided on it. What comes out in the end is the same
however the text was cut into pieces, and nothing that was found is ever in it.

The arguments of a call are JSON, in which `\u0070` is a `p`: rules read what a string says, and what goes on keeps its
escapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from governance.guardrails.rules import Detecting, Matching, Rule
from governance.guardrails.scanning import Scanner, Span

Acting = Callable[[Rule], None]
"""Is told each time that a rule finds something; raises where it blocks."""

Replacing = Callable[[Rule, str, str], str]
"""Says what stands in place of a text of a kind that a rule redacts."""

_ESCAPED: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPE: Final = 2
_HEX_ESCAPE: Final = 6


@dataclass(slots=True)
class _Reader:
    rule: Rule
    scanner: Scanner
    told: int = 0


class GuardedText:
    """Reads one text by the rules that look into texts; other rules are left out.

    Args:
        rules: The rules.
        acting: Is told of findings.
        replacing: Says what stands in place of what is redacted.
        json: The text is JSON.
        whole: It comes in one piece.
    """

    def __init__(
        self, rules: Sequence[Rule], acting: Acting, replacing: Replacing, *, json: bool = False, whole: bool = False
    ) -> None:
        self._acting = acting
        self._replacing = replacing
        self._readers = [
            _Reader(rule, rule.looks_for.scanner(rule.name, whole=whole))
            for rule in rules
            if isinstance(rule.looks_for, Matching | Detecting)
        ]
        self._escapes = _Escapes() if json else None
        self._text = ""
        self._raw: list[str] = []
        self._first = 0  # the place of the first character that has not gone on
        self._found: list[tuple[Span, Rule]] = []

    def feed(self, piece: str) -> str:
        """Take in what comes next, and return what may go on."""
        self._read(piece if self._escapes is None else self._escapes.feed(piece))
        return self._settle(ended=False)

    def end(self) -> str:
        """Return all that may still go on; should more come after it, it is read as one with the end of this."""
        if self._escapes is not None:
            self._read(self._escapes.rest())
        return self._settle(ended=True)

    def _read(self, raw: Sequence[str]) -> None:
        if self._escapes is not None:
            self._raw += raw
        said = "".join(map(_said, raw)) if self._escapes is not None else "".join(raw)
        self._text += said
        for reader in self._readers:
            reader.scanner.feed(said)

    def _settle(self, *, ended: bool) -> str:
        until = self._first + len(self._text)
        for reader in self._readers:
            spans, told = reader.scanner.settle(ended=ended)
            for _ in spans:
                self._acting(reader.rule)
            if reader.rule.action == "redact":
                self._found += [(span, reader.rule) for span in spans]
            if reader.rule.action != "flag":
                until = min(until, told)
        return self._go_on(until)

    def _go_on(self, until: int) -> str:
        """Return what comes before a place, with what was found in it replaced."""
        out = list[str]()
        for span, rule in _merged(self._found, self._readers):
            if span.end > until:
                until = min(until, max(span.start, self._first))
                break
            value = self._text[span.start - self._first : span.end - self._first]
            out += [self._taken(span.start), self._replacing(rule, span.kind, value)]
            self._drop(span.end)
        self._found = [(span, rule) for span, rule in self._found if span.end > self._first]
        return "".join([*out, self._taken(until)])

    def _taken(self, until: int) -> str:
        count = until - self._first
        taken = self._text[:count] if self._escapes is None else "".join(self._raw[:count])
        self._drop(until)
        return taken

    def _drop(self, until: int) -> None:
        count = until - self._first
        self._text, self._first = self._text[count:], until
        if self._escapes is not None:
            self._raw = self._raw[count:]


def _merged(found: Sequence[tuple[Span, Rule]], readers: Sequence[_Reader]) -> list[tuple[Span, Rule]]:
    """Return what was found, in its order; what overlaps is one, named after what begins first."""
    order = {reader.rule.name: place for place, reader in enumerate(readers)}
    merged = list[tuple[Span, Rule]]()
    for span, rule in sorted(found, key=lambda one: (one[0].start, order[one[1].name], -one[0].end)):
        if merged and span.start < merged[-1][0].end:
            before, first = merged[-1]
            merged[-1] = (Span(before.start, max(before.end, span.end), before.kind), first)
        else:
            merged.append((span, rule))
    return merged


class _Escapes:
    """Cuts JSON into what each of its characters is written as."""

    def __init__(self) -> None:
        self._begun = ""

    def feed(self, piece: str) -> list[str]:
        """Return the characters that are complete."""
        raw = list[str]()
        for c in piece:
            if not self._begun and c != "\\":
                raw.append(c)
                continue
            self._begun += c
            length = _HEX_ESCAPE if self._begun[1:2] == "u" else _ESCAPE
            if len(self._begun) == length:
                raw.append(self._begun)
                self._begun = ""
        return raw

    def rest(self) -> list[str]:
        """Return what has begun and will not end: it is no JSON, and is kept as it is."""
        rest, self._begun = self._begun, ""
        return [rest] if rest else []


def _said(raw: str) -> str:
    """Return the one character that is written so."""
    if len(raw) == 1:
        return raw
    if len(raw) == _HEX_ESCAPE:
        try:
            return chr(int(raw[2:].encode(), 16))
        except ValueError:
            return "\ufffd"
    return _ESCAPED.get(raw[1], raw[1])
