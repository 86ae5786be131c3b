"""Decide whether a question may be answered, or its answer kept, by meaning rather than word for word.

An exact hit needs none of this: the very same request within its time to live is the very same request. A semantic hit
says that one answer serves a whole neighbourhood of questions, and some questions have no neighbours: their answer
depends on the hour, on who asks, or on what was said before; or sameness is not wanted at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from cache.detecting import acting, anaphoric, identifying, personal, time_sensitive, varied
from cache.detecting.reading import read

if TYPE_CHECKING:
    from collections.abc import Callable

    from cache.detecting.reading import Reading


class Kind(StrEnum):
    """Why a question has no neighbours."""

    ANAPHORIC = "anaphoric"
    PERSONAL = "personal"
    ACTION = "action"
    VARIED = "varied"
    TIME_SENSITIVE = "time_sensitive"


@dataclass(frozen=True, slots=True)
class Unfit:
    """A question that only the model may answer.

    Attributes:
        kind: The reason, for counting.
        what: The reason in a few words, for a person; it never quotes the question.
    """

    kind: Kind
    what: str


_TESTS: tuple[tuple[Kind, Callable[[Reading], str | None]], ...] = (
    (Kind.PERSONAL, identifying.spot),
    (Kind.ACTION, acting.spot),
    (Kind.VARIED, varied.spot),
    (Kind.PERSONAL, personal.spot),
    (Kind.TIME_SENSITIVE, time_sensitive.spot),
    (Kind.ANAPHORIC, anaphoric.spot),
)


def unfit(text: str) -> Unfit | None:
    """Say why the question must go to the model, or None when a stored answer may serve it.

    Args:
        text: The last thing the user said, as it was said.
    """
    reading = read(text)
    for kind, spot in _TESTS:
        what = spot(reading)
        if what is not None:
            return Unfit(kind, what)
    return None
