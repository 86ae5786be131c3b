"""The chance that a prefix comes again is learnt of its kind, and pessimistic until one does."""

from hypothesis import given
from hypothesis import strategies as st

from cache.prefix.reuse import HOUR_S, MINUTES_S, Reuse, Stream

FAQ = Stream("red/bot", "faq", "system")
OTHER = Stream("red/bot", "faq", "opening")


def test_nothing_known_is_even() -> None:
    assert Reuse().chance(FAQ, MINUTES_S) == 0.5


def test_what_has_not_come_again_yet_counts_as_if_it_never_did() -> None:
    reuse = Reuse()
    for _ in range(3):
        reuse.begun(FAQ)
    assert reuse.chance(FAQ, MINUTES_S) == 0.2
    assert reuse.chance(OTHER, MINUTES_S) == 0.5


def test_what_comes_after_minutes_counts_for_the_hour_alone() -> None:
    reuse = Reuse()
    for after in (10, 299, 301, 3599, 3601):
        reuse.begun(FAQ)
        reuse.came_again(FAQ, after)
    assert reuse.chance(FAQ, MINUTES_S) == (1 + 2) / (2 + 5)
    assert reuse.chance(FAQ, HOUR_S) == (1 + 4) / (2 + 5)


def test_an_app_that_changes_its_ways_is_found_out() -> None:
    reuse = Reuse()
    for _ in range(10_000):
        reuse.begun(FAQ)
        reuse.came_again(FAQ, 1)
    for _ in range(600):
        reuse.begun(FAQ)
    assert reuse.chance(FAQ, MINUTES_S) < 0.2


def test_memory_is_bounded() -> None:
    reuse = Reuse(most=2)
    for feature in ("a", "b", "c"):
        for _ in range(3):
            reuse.begun(Stream("red/bot", feature, "system"))
    assert [reuse.chance(Stream("red/bot", name, "system"), MINUTES_S) for name in "abc"] == [0.5, 0.2, 0.2]


@given(st.lists(st.none() | st.integers(0, 10_000), max_size=600))
def test_a_chance_is_one_and_an_hour_is_no_less_likely_than_minutes(history: list[int | None]) -> None:
    reuse = Reuse()
    for after in history:
        if after is None:
            reuse.begun(FAQ)
        else:
            reuse.came_again(FAQ, after)
    assert 0 < reuse.chance(FAQ, MINUTES_S) <= reuse.chance(FAQ, HOUR_S) <= 1
