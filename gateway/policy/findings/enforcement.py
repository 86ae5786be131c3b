"""Which parts of a policy are read and checked, but not yet obeyed in this release.

A policy that promises what does not happen is worse than none, so `sluice policy check` names every such part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.policy.problems import describe
from gateway.policy.references import select

if TYPE_CHECKING:
    from gateway.policy.document import Policy


@dataclass(frozen=True, slots=True)
class Note:
    """A part of a policy that is not yet obeyed, and one sentence of what happens instead."""

    path: str
    sentence: str


def _always(_: object) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class _NotYet:
    patterns: tuple[str, ...]
    sentence: str
    when: Callable[[object], bool] = _always


NOT_YET = (
    _NotYet(("routes.*.shadow",), "No request is sampled."),
    _NotYet(
        (
            "output.reasoning_effort",
            "teams.*.output.reasoning_effort",
            "teams.*.apps.*.output.reasoning_effort",
            "teams.*.apps.*.features.*.output.reasoning_effort",
        ),
        "The effort that a request asks for is passed on as it is.",
    ),
)


def notes(document: Policy) -> tuple[Note, ...]:
    """Name every part of a policy that is written down but not yet obeyed."""
    data = document.model_dump(exclude_unset=True)
    found = (
        Note(describe(path, data), rule.sentence)
        for rule in NOT_YET
        for pattern in rule.patterns
        for path, value in select(data, pattern)
        if value is not None and rule.when(value)
    )
    return tuple(found)
