"""What stands in a request in place of what was redacted, such as `[EMAIL_1]`, and how it is put back.

The same value has the same placeholder throughout a request, and they are counted in the order in which the values
come: so a conversation that goes on begins as it did before, and two requests that differ only in what was redacted are
the same to every cache. Where a text has something that looks like a placeholder already, its number is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from governance.guardrails.rules import Rule, label_of

_LOOKS_LIKE_ONE: Final = re.compile(r"\[[A-Z0-9_]+_[1-9][0-9]*\]")


class Placeholders:
    """The placeholders of one request.

    Attributes:
        reversible: What may be put back, by its placeholder.
    """

    def __init__(self) -> None:
        self.reversible: dict[str, str] = {}
        self._known: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}

    def avoid(self, text: str) -> None:
        """Leave out whatever a text has that looks like a placeholder; to be told of every text before the first."""
        self._taken.update(_LOOKS_LIKE_ONE.findall(text))

    def of(self, rule: Rule, kind: str, value: str) -> str:
        """Return what stands in place of a value."""
        label = label_of(kind)
        known = self._known.get((label, value))
        if known is None:
            known = self._known[label, value] = self._fresh(label)
        if rule.reversible:
            self.reversible[known] = value
        return known

    def _fresh(self, label: str) -> str:
        while True:
            self._counts[label] = self._counts.get(label, 0) + 1
            fresh = f"[{label}_{self._counts[label]}]"
            if fresh not in self._taken:
                return fresh


class Restoring:
    """Puts back in one text what was redacted in its request; a placeholder may come in pieces.

    Args:
        values: What is put back, by its placeholder.
        json: The text is JSON, and what is put back is written as in a string of it.
    """

    def __init__(self, values: Mapping[str, str], *, json: bool = False) -> None:
        self._values = {name: _in_json(value) for name, value in values.items()} if json else values
        self._pattern = re.compile("|".join(re.escape(name) for name in values))
        self._longest = max(map(len, values))
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return the text with what is complete put back; its end waits that may be the beginning of a placeholder."""
        text = self._held + piece
        at = text.rfind("[", max(0, len(text) - self._longest + 1))
        waits = at >= 0 and any(name.startswith(text[at:]) and len(name) > len(text) - at for name in self._values)
        self._held = text[at:] if waits else ""
        return self._restored(text[:at] if waits else text)

    def end(self) -> str:
        """Return what waited."""
        held, self._held = self._held, ""
        return held

    def _restored(self, text: str) -> str:
        return self._pattern.sub(lambda found: self._values[found[0]], text)


def _in_json(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)[1:-1]
