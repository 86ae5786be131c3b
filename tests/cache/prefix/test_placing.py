"""A mark stands where what is expected to be spared is more than what it costs to write."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.prefix.placing import Rates, Spot, lifetime, placed
from cache.prefix.reuse import HOUR_S, MINUTES_S

CLAUDE = Rates(fresh=300, read=30, write=375)
CLAUDE_HOUR = Rates(fresh=300, read=30, write=375, write_hour=600)
rates = st.builds(
    Rates,
    fresh=st.integers(0, 1000),
    read=st.integers(0, 1000),
    write=st.integers(0, 3000),
    write_hour=st.none() | st.integers(0, 3000),
)
chances = st.floats(0, 1)
spots = st.builds(
    Spot,
    tokens=st.integers(0, 3000),
    kept_s=st.sampled_from([0, MINUTES_S, HOUR_S]),
    chance=chances,
    chance_hour=chances,
    rank=st.integers(0, 3),
)


def spot(chance: float, hour: float | None = None, *, tokens: int = 2000, kept_s: int = 0, rank: int = 0) -> Spot:
    return Spot(tokens=tokens, kept_s=kept_s, chance=chance, chance_hour=chance if hour is None else hour, rank=rank)


def test_the_break_even_of_five_minutes_is_a_chance_of_five_in_twenty_three() -> None:
    assert lifetime(spot(5 / 23 + 0.001), CLAUDE) == MINUTES_S
    assert lifetime(spot(5 / 23 - 0.001), CLAUDE) == 0


@given(chances, rates)
def test_a_mark_pays_just_where_expected_reads_spare_more_than_a_write_costs(chance: float, at: Rates) -> None:
    minutes = Rates(at.fresh, at.read, at.write)
    expected = chance * (at.fresh - at.read) - (1 - chance) * (at.write - at.fresh)
    if abs(expected) > 1e-6:
        assert bool(lifetime(spot(chance), minutes)) is (expected > 0)


def test_an_hour_is_asked_for_only_where_it_is_cheaper_than_minutes() -> None:
    assert lifetime(spot(0.9, 0.92), CLAUDE_HOUR) == MINUTES_S
    assert lifetime(spot(0.1, 0.9), CLAUDE_HOUR) == HOUR_S
    assert lifetime(spot(0.1, 0.9), CLAUDE) == 0


def test_a_model_whose_cache_is_no_cheaper_gets_no_mark() -> None:
    assert lifetime(spot(1.0), Rates(fresh=300, read=300, write=300)) == 0


def test_what_is_kept_already_is_marked_whatever_its_chance() -> None:
    assert placed([spot(0.0, kept_s=MINUTES_S)], CLAUDE, slots=1, least_tokens=1024) == {0: MINUTES_S}


def test_a_mark_before_one_that_pays_is_free() -> None:
    assert placed([spot(0.0), spot(0.9)], CLAUDE, slots=4, least_tokens=1024) == {0: MINUTES_S, 1: MINUTES_S}
    assert placed([spot(0.9), spot(0.0)], CLAUDE, slots=4, least_tokens=1024) == {0: MINUTES_S}


def test_a_short_prefix_takes_no_place() -> None:
    assert placed([spot(0.9, tokens=1023)], CLAUDE, slots=4, least_tokens=1024) == {}


@pytest.mark.parametrize(("slots", "left"), [(0, set[int]()), (1, {2}), (2, {1, 2}), (-1, set[int]())])
def test_the_first_in_rank_take_the_places_there_are(slots: int, left: set[int]) -> None:
    both = [spot(0.9, rank=2), spot(0.9, rank=1), spot(0.9, rank=0)]
    assert set(placed(both, CLAUDE, slots=slots, least_tokens=0)) == left


@given(st.lists(spots, max_size=6), rates, st.integers(-2, 4), st.integers(0, 2000))
def test_there_are_never_more_marks_than_places_and_none_outlives_one_before_it(
    some: list[Spot], at: Rates, slots: int, least: int
) -> None:
    marks = placed(some, at, slots=slots, least_tokens=least)
    assert len(marks) <= max(0, slots)
    assert all(some[place].tokens >= least and seconds in {MINUTES_S, HOUR_S} for place, seconds in marks.items())
    assert all(earlier >= later for earlier, later in pairwise(marks[place] for place in sorted(marks)))
