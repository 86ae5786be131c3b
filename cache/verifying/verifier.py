"""The probability that a stored answer to one question is a right answer to another."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from cache.guards import Veto, veto
from cache.verifying.artifact import Calibration, read_artifact
from cache.verifying.features import compare
from cache.verifying.question import Marks, describe, mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cache.embedding import Reading as Embedded
    from cache.verifying.artifact import Artifact
    from cache.verifying.question import Question

_REMEMBERED = 4_096
_STAMP_BYTES = 8


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is thought of serving a stored answer.

    Attributes:
        probability: That it is a right answer; 0 under a veto.
        veto: The guard that forbids it, whatever the probability.
    """

    probability: float
    veto: Veto | None = None


class Verifier:
    """Judges stored questions beside the one that is asked. It is pure computation: nothing here waits."""

    def __init__(self, artifact: Artifact) -> None:
        self._artifact = artifact
        self._stamp = blake2b(artifact.centre.tobytes() + artifact.axes.tobytes(), digest_size=_STAMP_BYTES).digest()
        self._described: OrderedDict[tuple[str, bytes], Question] = OrderedDict()

    @property
    def embedding(self) -> str:
        """The name of the embedding whose similarities and token states it was trained with."""
        return self._artifact.embedding

    @property
    def calibration(self) -> Calibration:
        """How the probabilities did on questions that were held out of training."""
        return self._artifact.calibration

    def mark(self, embedded: Embedded) -> bytes:
        """Return what has to be kept beside a stored answer so that its question can be judged later: about 1 kB."""
        return self._stamp + mark(embedded, self._artifact.centre, self._artifact.axes).packed()

    def knows(self, marks: bytes) -> bool:
        """Say whether marks can be read: those of a verifier with other axes, kept by another release, mean nothing."""
        return marks.startswith(self._stamp)

    def question(self, text: str, marks: bytes) -> Question:
        """Describe a question from its text and its marks; the latest are remembered."""
        key = text, marks
        found = self._described.pop(key, None) or describe(
            text, Marks.unpacked(marks[_STAMP_BYTES:]), self._artifact.lexicon
        )
        self._described[key] = found
        if len(self._described) > _REMEMBERED:
            self._described.popitem(last=False)
        return found

    def judge(self, asked: Question, stored: Sequence[tuple[Question, float]]) -> tuple[Verdict, ...]:
        """Judge stored questions, each with the cosine of its embedding to that of the question asked."""
        vetoes = [veto(asked.reading, question.reading) for question, _ in stored]
        open_ = [pair for pair, found in zip(stored, vetoes, strict=True) if found is None]
        if not open_:
            return tuple(Verdict(0.0, found) for found in vetoes)
        odds = self._artifact.trees.log_odds(compare(asked, open_))
        probabilities = iter((1 / (1 + np.exp(-odds))).tolist())
        return tuple(Verdict(0.0, found) if found else Verdict(next(probabilities)) for found in vetoes)


@lru_cache(maxsize=1)
def open_verifier() -> Verifier:
    """Open the verifier that comes with the package; the file is read once."""
    return Verifier(read_artifact(files("cache.verifying") / "weights" / "verifier.safetensors"))
