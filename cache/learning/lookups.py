"""What a lookup found, what was decided, and what was learned afterwards: the words spoken with the gateway."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence


class Candidate(msgspec.Struct, frozen=True, array_like=True):
    """A stored answer near to the question, seen in the question's own partition.

    Attributes:
        entry: The fingerprint of the stored answer.
        similarity: Cosine of the two questions.
        match: The verifier's probability that the answer fits the question; None where no verifier is installed.
        vetoed: A guard forbids to serve it. It still tells what is asked around here.
    """

    entry: bytes
    similarity: float
    match: float | None = None
    vetoed: bool = False


class Action(StrEnum):
    """What to do with a lookup."""

    SERVE = "serve"
    """Serve `entry`."""

    EXPLORE = "explore"
    """`entry` would have been served; ask the model instead, have the answers compared, and learn."""

    ASK = "ask"
    """Nothing here may be served; ask the model, and learn from the comparison where `against` names some."""


class Decision(msgspec.Struct, frozen=True, array_like=True):
    """What to do with one lookup, and all that it was decided by.

    Attributes:
        action: Serve, explore or ask.
        entry: What is served, or would be; None when no candidate may be served at all.
        against: Stored answers that the judge should compare a fresh answer with, when there is one.
        risk: Upper estimate of the probability that `entry` is wrong, from 0 to 1.
        threshold: The highest risk that was acceptable.
        explored: The probability with which a would-be hit like this one is explored; 1 when the model is asked anyway.
        controls: How many at the end of `against` are there to test the judge: they answer other questions.
        partition: The partition that was searched.
        features: What `risk` was worked out from.
        prior: Groups of same answers the fresh one may belong to, the one of `entry` first, each with its probability.
    """

    action: Action
    entry: bytes | None
    against: tuple[bytes, ...]
    risk: float
    threshold: float
    explored: float
    controls: int = 0
    partition: bytes = b""
    features: tuple[float, ...] = ()
    prior: tuple[tuple[int, float], ...] = ()

    def told_apart(self, verdicts: Sequence[Verdict]) -> tuple[list[Verdict], list[Verdict]]:
        """Tell verdicts on neighbours from those on controls."""
        controls = set(self.against[len(self.against) - self.controls :])
        return [v for v in verdicts if v.entry not in controls], [v for v in verdicts if v.entry in controls]


class Verdict(msgspec.Struct, frozen=True, array_like=True):
    """The judge's word on a fresh answer beside a stored one.

    Attributes:
        entry: The stored answer, one of the decision's `against`.
        same: Whether it would have served as well as the fresh one.
    """

    entry: bytes
    same: bool


class Observation(msgspec.Struct, frozen=True, array_like=True):
    """One lookup with everything that was learned from it: a list of them rebuilds a learner.

    Attributes:
        decision: What was decided.
        fresh: The fingerprint under which the fresh answer was stored; None when none was stored.
        verdicts: What the judge said; empty for a served hit.
        origin: Names whose answer was served, for who has to find its copies; empty where none was.
        embedding: What placed the question: similarities of another one say nothing beside its own.
    """

    decision: Decision
    fresh: bytes | None = None
    verdicts: tuple[Verdict, ...] = ()
    origin: str = ""
    embedding: str = ""
