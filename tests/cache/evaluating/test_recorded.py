"""The curve drawn from look-ups on record keeps every bound it promises, and says how little it knows."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.evaluating.recorded import Point, Seen, curve

LOOKUPS = 2_000


def truth(risk: float) -> float:
    """How often a candidate of a risk is wrong: more often than the risk says."""
    return min(1.0, 1.7 * risk)


def stream(seed: int, explored: Callable[[float], float], lost: float = 0.0) -> list[Seen]:
    """Return look-ups whose answers are compared with some probability, and of which some comparisons fail."""
    chance, found = Random(seed), list[Seen]()
    for _ in range(LOOKUPS):
        if chance.random() < 0.3:
            found.append(Seen(1.0, 1.0, None))
            continue
        risk = chance.random() ** 4
        checked = explored(risk)
        compared = chance.random() < checked and chance.random() >= lost
        found.append(Seen(risk, checked, float(chance.random() < truth(risk)) if compared else None))
    return found


def true_error(risk: float) -> float:
    """Return the share of all look-ups of `stream` that are served wrongly up to a risk."""
    steps = 400  # the fourth root of a risk is uniform
    grid = [((n + 0.5) / steps) ** 4 for n in range(steps)]
    return 0.7 * sum(truth(each) for each in grid if each <= risk) / steps


@pytest.mark.parametrize(
    "explored",
    [lambda _: 1.0, lambda _: 0.1, lambda risk: 0.05 if risk < 0.05 else 1.0],
    ids=["all compared", "a tenth compared", "hits seldom compared"],
)
@pytest.mark.parametrize("lost", [0.0, 0.4])
def test_a_bound_is_kept_in_95_of_100_streams(explored: Callable[[float], float], lost: float) -> None:
    seeds, broken = 100, dict[float, int]()
    for seed in range(seeds):
        for point in curve(stream(seed, explored, lost), (0.01, 0.05, 0.1)):
            broken[point.max_error] = broken.get(point.max_error, 0) + (true_error(point.risk) > point.max_error)
    assert all(count <= 0.05 * seeds for count in broken.values()), broken


def test_where_all_was_compared_a_bound_is_used() -> None:
    points = curve(stream(1, lambda _: 1.0), (0.01, 0.05))
    assert [point.error_rate.value > 0.5 * point.max_error for point in points] == [True, True]
    assert points[1].hit_rate.value > 0.2


def seen() -> st.SearchStrategy[list[Seen]]:
    one = st.builds(
        Seen,
        st.sampled_from([0.0, 0.01, 0.02, 0.1, 0.5, 1.0]),
        st.sampled_from([0.02, 0.1, 0.5, 1.0]),
        st.none() | st.floats(0, 1),
    )
    return st.lists(one, min_size=1, max_size=200)


@given(seen())
def test_a_looser_bound_takes_no_less_and_no_interval_is_out_of_order(found: list[Seen]) -> None:
    points = curve(found)
    assert list(points) == sorted(points, key=lambda point: point.risk)
    assert list(points) == sorted(points, key=lambda point: point.hit_rate.value)
    for point in points:
        assert point.error_rate.high <= point.max_error
        for share in (point.hit_rate, point.error_rate):
            assert 0.0 <= share.low <= share.value <= share.high <= 1.0


@given(seen(), st.randoms())
def test_the_order_of_look_ups_decides_nothing(found: list[Seen], chance: Random) -> None:
    shuffled = list(found)
    chance.shuffle(shuffled)
    for one, other in zip(curve(found), curve(shuffled), strict=True):
        assert other.risk == one.risk
        assert other.hit_rate == one.hit_rate
        assert other.error_rate.high == pytest.approx(one.error_rate.high)


def bounded(found: list[Seen], bound: float = 0.05) -> Point:
    (point,) = curve(found, (bound,))
    return point


def test_a_hit_on_record_is_not_known_to_be_right() -> None:
    hits = [Seen(0.01, 0.02, None)] * 1_000
    assert bounded(hits).hit_rate.value == 0.0
    few = [*hits, *[Seen(0.01, 0.02, 0.0)] * 20]
    assert bounded(few).hit_rate.value == 0.0
    assert bounded(few, 0.2).hit_rate.value == 1.0


def test_of_none_wrong_there_may_be_nearly_four() -> None:
    point = bounded([Seen(0.01, 1.0, 0.0)] * 1_000)
    assert point.error_rate.value == 0.0
    assert point.error_rate.high == pytest.approx(3.69 / 1_000, rel=0.02)


def test_a_comparison_that_failed_says_nothing_and_is_stood_for() -> None:
    compared = [Seen(0.01, 1.0, float(n % 50 == 0)) for n in range(1_000)]
    half = [replace(one, wrong=None) if n % 2 else one for n, one in enumerate(compared)]
    assert bounded(compared).error_rate.value == pytest.approx(0.02)
    assert bounded(half, 0.1).error_rate.value == pytest.approx(0.04)


def test_nothing_on_record_draws_nothing() -> None:
    assert curve([]) == ()
    assert bounded([Seen(1.0, 1.0, None)] * 10).hit_rate.value == 0.0
