"""Measure the local judge on answers that were written for it: `python -m cache.judging.measuring > noise.json`.

The threshold is chosen on one half of the groups and its errors counted on the other, both ways round; so the errors
are those of a threshold that has not seen the answers. Of each group two pairs count for each side, none of them twice
with the same answer that differs, so that the trials are nearly independent of each other.
"""

from __future__ import annotations

import asyncio
import math
import sys
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations
from typing import TYPE_CHECKING, Final

import msgspec

from cache.embedding.batching import Limits
from cache.embedding.opening import open_embedding
from cache.judging.answers import AnswerJudge, Verdict
from cache.judging.noise import JudgeNoise, Rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAY_MISS: Final = 0.02
"""The share of the answers that differ in one thing that a threshold may let pass."""

_THRESHOLDS: Final = tuple(step / 100 for step in range(60, 100))


@dataclass(frozen=True, slots=True)
class Group:
    """Answers to one question.

    Attributes:
        same: Three that say the same.
        others: Two of which each says something else than all of these.
    """

    same: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts on the pairs of a group, for a judge that calls all same which no rule holds apart."""

    same: tuple[Verdict, ...]
    others: tuple[Verdict, ...]


def read_groups() -> list[Group]:
    """Read the answers that were written for this."""
    blocks = (files("cache.judging") / "answers.txt").read_text(encoding="utf-8").split("\n\n")
    lines = [[line for line in block.splitlines() if line[:2] in {"= ", "! "}] for block in blocks]
    return [Group(_marked(block, "="), _marked(block, "!")) for block in lines if block]


async def measure(judge: AnswerJudge, groups: Sequence[Group]) -> tuple[float, JudgeNoise]:
    """Return the threshold that all groups choose, and the errors of those that each half chooses for the other.

    Args:
        judge: One whose threshold is below all that are tried.
        groups: The answers.
    """
    judged = [await _judged(judge, group) for group in groups]
    unlike = [await judge.compare(a.same[0], b.same[0]) for a, b in combinations(groups, 2)]
    halves = judged[::2], judged[1::2]
    thresholds = [choose_threshold(half) for half in halves]
    same = [
        said for half, at in zip(halves, thresholds[::-1], strict=True) for one in half for said in _at(one.same, at)
    ]
    others = [
        said for half, at in zip(halves, thresholds[::-1], strict=True) for one in half for said in _at(one.others, at)
    ]
    lowest = _at(unlike, min(thresholds))
    return choose_threshold(judged), JudgeNoise(
        missed=_rate(others, wrong=True),
        missed_unlike=_rate(lowest, wrong=True),
        alarmed=_rate(same, wrong=False),
        told_same=Rate(same.count(True), len(same)),
        told_different=Rate(others.count(False), len(others)),
    )


def choose_threshold(judged: Sequence[Judged]) -> float:
    """Return the lowest threshold that lets no more pass than it may."""
    others = [verdict for one in judged for verdict in one.others]
    return next(
        at for at in _THRESHOLDS if _at(others, at).count(True) <= MAY_MISS * len(others) or at == _THRESHOLDS[-1]
    )


async def _judged(judge: AnswerJudge, group: Group) -> Judged:
    same = [await judge.compare(group.same[0], other) for other in group.same[1:]]
    others = [await judge.compare(one, other) for one, other in zip(group.same, group.others, strict=False)]
    return Judged(tuple(same), tuple(others))


def _at(verdicts: Iterable[Verdict], threshold: float) -> list[bool | None]:
    """Return what would be said at a threshold."""
    return [
        None if verdict.same and verdict.similarity is not None and verdict.similarity < threshold else verdict.same
        for verdict in verdicts
    ]


def _rate(said: Sequence[bool | None], *, wrong: bool) -> Rate:
    return Rate(said.count(wrong), sum(one is not None for one in said))


def _marked(lines: Iterable[str], mark: str) -> tuple[str, ...]:
    return tuple(line[2:] for line in lines if line[0] == mark)


async def main() -> None:
    """Measure, print the errors as JSON, and say on the other stream which threshold to set."""
    embedding = await open_embedding(limits=Limits(patience_s=math.inf))
    try:
        threshold, noise = await measure(AnswerJudge(embedding, same_at=_THRESHOLDS[0]), read_groups())
    finally:
        await embedding.close()
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(noise)).decode() + "\n")
    sys.stderr.write(f"SAME_AT = {threshold}\n")


if __name__ == "__main__":
    asyncio.run(main())
