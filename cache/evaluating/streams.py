"""Replay a stream through the semantic cache as it would run, learning as it goes, beside fixed thresholds."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from cache.evaluating.contenders import Fixed, Learned, Scored, Seen
from cache.evaluating.tally import Rates, rates
from cache.intervals import Share
from cache.learning.standing import Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from cache.evaluating.lines import Line

BOUNDS = (0.005, 0.01, 0.02, 0.05)
"""The error bounds of the curve."""

COSINES = (0.80, 0.85, 0.90, 0.95)
"""The fixed thresholds of the baselines."""


class Point(msgspec.Struct, frozen=True):
    """One cache of the comparison.

    Attributes:
        setting: Its error bound, or its cosine.
        rates: What it did.
    """

    setting: float
    rates: Rates


class StreamReport(msgspec.Struct, frozen=True):
    """What a stream came to.

    Attributes:
        max_error: The bound that was to be held.
        judge_error: The probability with which the judge's verdicts were turned round.
        seed: The seed of exploration and of the judge's errors.
        lookups: Lines replayed.
        hit_rate: Hits per lookup.
        error_rate: Wrong hits per lookup.
        precision: Right hits per hit.
        explored: Would-be hits for which the model was asked, per lookup.
        comparisons: Verdicts asked of the judge, per lookup.
        standing: How each feature stands at the end.
        curve: The same cache under other bounds.
        windows: The stream in equal parts, in order.
        static: Fixed cosine thresholds on the same stream.
    """

    max_error: float
    judge_error: float
    seed: int
    lookups: int
    hit_rate: Share
    error_rate: Share
    precision: Share
    explored: float
    comparisons: float
    standing: dict[str, Standing]
    curve: tuple[Point, ...]
    windows: tuple[Rates, ...]
    static: tuple[Point, ...]


def replay(
    lines: Sequence[Line],
    vectors: NDArray[np.float32],
    *,
    max_error: float,
    judge_error: float = 0.0,
    seed: int = 0,
    forbidden: Callable[[int, int], bool] | None = None,
    curve: bool = True,
    progress: Callable[[int], object] = lambda _: None,
) -> StreamReport:
    """Replay a stream, in order.

    Args:
        lines: The stream.
        vectors: Unit vectors of its questions, float32 [lines, dimensions].
        max_error: The error bound.
        judge_error: The probability with which a verdict is turned round; 0 is an honest judge.
        seed: Of exploration and of the judge's errors: the same seed gives the same report.
        forbidden: Whether guards keep the answer of the line at one place from the question at another.
        curve: Whether to replay under the other bounds too.
        progress: Called with the number of lines done since it was called last.
    """
    bounds = tuple(sorted({*BOUNDS, max_error})) if curve else (max_error,)
    learned = {bound: Learned(lines, bound, judge_error, seed, forbidden) for bound in bounds}
    scored = {bound: Scored(cache, len(lines)) for bound, cache in learned.items()}
    fixed = {cosine: Scored(Fixed(cosine), len(lines)) for cosine in COSINES}
    for seen in _lookups(lines, vectors):
        for contender in (*scored.values(), *fixed.values()):
            contender.step(seen, lines)
        if seen.place % 100 == 99:  # noqa: PLR2004 - often enough to be seen
            progress(100)
    own, total = learned[max_error], rates(scored[max_error].total)
    return StreamReport(
        max_error=max_error,
        judge_error=judge_error,
        seed=seed,
        lookups=len(lines),
        hit_rate=total.hit_rate,
        error_rate=total.error_rate,
        precision=total.precision,
        explored=own.explored / max(len(lines), 1),
        comparisons=own.judged / max(len(lines), 1),
        standing=own.standings(),
        curve=tuple(Point(bound, rates(cache.total)) for bound, cache in scored.items()),
        windows=tuple(rates(window) for window in scored[max_error].windows),
        static=tuple(Point(cosine, rates(cache.total)) for cosine, cache in fixed.items()),
    )


def _lookups(lines: Sequence[Line], vectors: NDArray[np.float32]) -> Iterator[Seen]:
    """Go through the stream; each question is compared with the earlier ones of its partition only."""
    places: dict[bytes, list[int]] = {}
    partitions = [sha256(f"{line.tenant}\0{line.feature}".encode()).digest() for line in lines]
    for place, partition in enumerate(partitions):
        places.setdefault(partition, []).append(place)
    parts = {partition: (np.array(held), vectors[held]) for partition, held in places.items()}
    done = dict.fromkeys(parts, 0)
    for place, (line, partition) in enumerate(zip(lines, partitions, strict=True)):
        held, matrix = parts[partition]
        count = done[partition]
        yield Seen(place, line, partition, matrix[:count] @ matrix[count], held[:count])
        done[partition] += 1
