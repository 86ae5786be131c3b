"""What the guards know of one question, read once and kept beside it."""

from __future__ import annotations

from dataclasses import dataclass

from cache.guards import asking, language, moments, negation, numbers, opposites, roles, scope, tense
from cache.guards.referring import code, names, people, unread
from cache.guards.words import FUNCTION, Words, words_of


@dataclass(frozen=True, slots=True)
class Reading:
    """A question as the guards see it; one field for each guard, named after its module."""

    words: Words
    stems: frozenset[str]
    numbers: numbers.Numbers
    moments: frozenset[str]
    negation: int
    particles: frozenset[str]
    names: names.Names
    code: frozenset[str]
    language: language.Written
    asking: str
    tense: str
    scope: frozenset[str]
    people: frozenset[str]
    roles: roles.Roles
    unread: unread.Unread

    @property
    def content(self) -> frozenset[str]:
        """The stems that say what the question is about."""
        return frozenset(
            stem for word, stem in zip(self.words.words, self.words.stems, strict=True) if word not in FUNCTION
        )


def read(question: str) -> Reading:
    """Read a question for the guards."""
    words = words_of(question)
    return Reading(
        words=words,
        stems=frozenset(words.stems),
        numbers=numbers.read(words),
        moments=moments.read(words),
        negation=negation.read(words),
        particles=opposites.read(words.words, words.stems),
        names=names.read(words),
        code=code.read(words),
        language=language.read(words),
        asking=asking.read(words),
        tense=tense.read(words),
        scope=scope.read(words),
        people=people.read(words),
        roles=roles.read(words),
        unread=unread.read(words),
    )
