"""Guards: what no similarity may bridge between two questions.

Read `reading.py` first (what is known of one question), then this file's `veto`, then any guard: each is a module
with `read` (what one question says) and `differ` (whether two of these exclude the same answer). `referring/` holds
those of what a question is about; `words.py` splits a question into words. The guards are rules and not learned: near
misses that a learned score has never seen are stopped here.

The package knows nothing of embeddings, stores or answers; it imports neither numpy nor anything else that is
optional.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cache.guards import asking, language, moments, negation, numbers, opposites, roles, scope, tense
from cache.guards.reading import Reading, read
from cache.guards.referring import code, names, people, unread

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ("GUARDS", "Reading", "Veto", "read", "veto")


@dataclass(frozen=True, slots=True)
class Veto:
    """That a stored answer must not be served, whatever the similarity.

    Attributes:
        guard: The guard that says so.
    """

    guard: str


GUARDS: tuple[tuple[str, Callable[[Reading, Reading], bool]], ...] = (
    ("number", lambda a, b: numbers.differ(a.numbers, b.numbers)),
    ("unit", lambda a, b: numbers.differ_in_unit(a.numbers, b.numbers)),
    ("moment", lambda a, b: moments.differ(a.moments, b.moments)),
    ("negation", lambda a, b: negation.differ(a.negation, b.negation)),
    ("opposite", lambda a, b: opposites.differ(a.stems - b.stems, b.stems - a.stems)),
    ("particle", lambda a, b: opposites.differ_in_particle(a.particles, b.particles)),
    ("name", lambda a, b: names.differ(a.names, b.names)),
    ("code", lambda a, b: code.differ(a.code, a.words.text, b.code, b.words.text)),
    ("language", lambda a, b: language.differ(a.language, b.language)),
    ("asking", lambda a, b: asking.differ(a.asking, b.asking)),
    ("tense", lambda a, b: tense.differ(a.tense, b.tense)),
    ("scope", lambda a, b: scope.differ(a.scope, b.scope)),
    ("person", lambda a, b: people.differ(a.people, b.people)),
    ("role", lambda a, b: roles.differ(a.roles, b.roles)),
    ("sign", lambda a, b: unread.differ_in_signs(a.unread, b.unread)),
    ("accent", lambda a, b: unread.differ_in_accents(a.unread, b.unread)),
    ("capital", lambda a, b: unread.differ_in_capitals(a.unread, b.unread)),
)
"""Every guard by its name, in the order they are asked."""


def veto(a: Reading, b: Reading) -> Veto | None:
    """Name the first guard that keeps an answer to the one question from the other, or None when none does."""
    return next((Veto(name) for name, differ in GUARDS if differ(a, b)), None)
