"""The caches that are replayed beside each other: the learned one, and fixed thresholds of cosine."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Protocol

import numpy as np

from cache.evaluating.tally import Tally
from cache.learning.evidence import NEIGHBOURS
from cache.learning.learner import Learner
from cache.learning.lookups import Action, Candidate, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from cache.evaluating.lines import Line
    from cache.learning.standing import Standing

WINDOWS = 10
"""Equal parts of the stream that are counted apart."""

GUARDED = 10
"""How many neighbours the guards read; those beyond only vote."""

_WIDTH = 32


@dataclass(frozen=True, slots=True)
class Seen:
    """A lookup as every cache sees it.

    Attributes:
        place: Its place in the stream.
        line: What is asked.
        partition: Where is searched.
        similarities: Cosines to the earlier questions of the partition, in their order.
        earlier: The places in the stream of these questions.
    """

    place: int
    line: Line
    partition: bytes
    similarities: NDArray[np.float32]
    earlier: NDArray[np.int64]


class Contender(Protocol):
    """A cache that is replayed."""

    def look_up(self, seen: Seen) -> int | None:
        """Return the place of the line whose answer is served, or None when the model is asked."""
        ...


@dataclass(slots=True)
class Fixed:
    """Serves the nearest stored answer from one cosine on, as most caches do.

    Attributes:
        threshold: The least cosine.
    """

    threshold: float
    _held: dict[bytes, list[int]] = field(default_factory=dict[bytes, list[int]])

    def look_up(self, seen: Seen) -> int | None:
        """Serve the nearest, or keep the question's own answer."""
        held = self._held.setdefault(seen.partition, [])
        if held:
            near = seen.similarities[held]
            best = int(near.argmax())
            if near[best] >= self.threshold:
                return int(seen.earlier[held[best]])
        held.append(len(seen.similarities))
        return None


class Learned:
    """The semantic cache as it runs: guards, the learned decision, exploration, and a judge who errs now and then."""

    def __init__(
        self,
        lines: Sequence[Line],
        max_error: float,
        judge_error: float,
        seed: int,
        forbidden: Callable[[int, int], bool] | None,
    ) -> None:
        """Start with an empty cache.

        Args:
            lines: The stream; the judge looks up the classes of answers in it.
            max_error: The bound.
            judge_error: The probability with which a verdict is turned round.
            seed: Of exploration and of the judge's errors.
            forbidden: Whether guards keep the answer of the line at one place from the question at another.
        """
        self._lines = lines
        self._max_error = max_error
        self._judge_error = judge_error
        self._rng = Random(f"{seed}/explore")  # noqa: S311  a replay must be repeatable
        self._judge = Random(f"{seed}/judge")  # noqa: S311
        self._forbidden = forbidden
        self._held: dict[bytes, list[int]] = {}
        self._learners: dict[str, Learner] = {}
        self.explored = self.judged = 0

    def look_up(self, seen: Seen) -> int | None:
        """Decide; when the model is asked, keep its answer, have it compared, and learn."""
        learner = self._learners.get(seen.line.feature)
        if learner is None:
            learner = self._learners[seen.line.feature] = Learner(self._max_error, self._rng)
        held = self._held.setdefault(seen.partition, [])
        decision = learner.decide(self._near(seen, held), seen.partition)
        if decision.action is Action.SERVE and decision.entry is not None:
            return int.from_bytes(decision.entry)
        self.explored += decision.action is Action.EXPLORE
        self.judged += len(decision.against)
        verdicts = [Verdict(entry, self._same(int.from_bytes(entry), seen.place)) for entry in decision.against]
        learner.learn(decision, seen.place.to_bytes(_WIDTH), verdicts)
        held.append(len(seen.similarities))
        return None

    def _near(self, seen: Seen, held: list[int]) -> list[Candidate]:
        if not held:
            return []
        near = seen.similarities[held]
        if len(held) > NEIGHBOURS:
            few = np.argpartition(-near, NEIGHBOURS - 1)[:NEIGHBOURS]
            order = few[np.argsort(-near[few], kind="stable")]
        else:
            order = np.argsort(-near, kind="stable")
        places = [(int(seen.earlier[held[at]]), float(near[at])) for at in order]
        return [
            Candidate(place.to_bytes(_WIDTH), cosine, vetoed=rank >= GUARDED or self._vetoed(place, seen.place))
            for rank, (place, cosine) in enumerate(places)
        ]

    def _vetoed(self, stored: int, asked: int) -> bool:
        return self._forbidden is not None and self._forbidden(stored, asked)

    def _same(self, stored: int, fresh: int) -> bool:
        same = self._lines[stored].answer_class == self._lines[fresh].answer_class
        return same != (self._judge_error > 0 and self._judge.random() < self._judge_error)

    def standings(self) -> dict[str, Standing]:
        """Return how each feature stands."""
        return {feature: learner.standing() for feature, learner in self._learners.items()}


class Scored:
    """A contender with its score, over the whole stream and window by window."""

    def __init__(self, contender: Contender, lookups: int) -> None:
        self.contender = contender
        self.total = Tally()
        self.windows = [Tally() for _ in range(min(WINDOWS, max(lookups, 1)))]
        self._lookups = max(lookups, 1)

    def step(self, seen: Seen, lines: Sequence[Line]) -> None:
        """Replay one lookup and count what came of it."""
        served = self.contender.look_up(seen)
        wrong = served is not None and lines[served].answer_class != seen.line.answer_class
        for tally in (self.total, self.windows[seen.place * len(self.windows) // self._lookups]):
            tally.count(hit=served is not None, wrong=wrong)
