"""Requests go where their prefix is, as far as that saves; else to where every worker would send them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.prefix.affinity import Choice, by_affinity

NAMES = ("a", "b", "c", "d")
COLD = tuple(Choice(name, f"p/{name}", 1000, None, 0) for name in NAMES)
choices = st.lists(
    st.builds(
        Choice,
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
        st.integers(0, 100),
        st.none() | st.integers(0, 100),
        st.integers(0, 30),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda choice: choice.name,
)
BALANCES = ("cheapest", "least_busy")


@pytest.mark.parametrize("balance", BALANCES)
def test_what_one_keeps_is_read_there(balance: str) -> None:
    for warm in range(4):
        some = [replace(each, warm_cost=400) if at == warm else each for at, each in enumerate(COLD)]
        assert by_affinity(some, b"key", balance)[0] == NAMES[warm]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("balance", BALANCES)
def test_an_affinity_is_worth_no_more_than_it_saves(balance: str) -> None:
    dear = replace(COLD[0], cost=3000, warm_cost=1001)
    assert by_affinity([dear, *COLD[1:]], b"key", balance)[0] != "a"  # pyright: ignore[reportArgumentType]
    assert by_affinity([replace(dear, warm_cost=1000), *COLD[1:]], b"key", balance)[0] == "a"  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("balance", BALANCES)
def test_a_full_deployment_is_left(balance: str) -> None:
    full = replace(COLD[0], warm_cost=400, busy=50)
    assert by_affinity([full, *COLD[1:]], b"key", balance)[0] != "a"  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("balance", BALANCES)
def test_workers_agree_on_a_first_placement_whatever_each_is_busy_with(balance: str) -> None:
    for key in (b"%d" % n for n in range(50)):
        busier = [replace(each, busy=at) for at, each in enumerate(COLD)]
        first = by_affinity(COLD, key, balance)  # pyright: ignore[reportArgumentType]
        assert by_affinity(busier, key, balance) == first  # pyright: ignore[reportArgumentType]
        assert by_affinity(COLD[::-1], key, balance) == first  # pyright: ignore[reportArgumentType]


def test_first_placements_are_spread_and_one_that_leaves_moves_only_its_own() -> None:
    keys = [b"%d" % n for n in range(400)]
    before = {key: by_affinity(COLD, key, "cheapest")[0] for key in keys}
    after = {key: by_affinity(COLD[1:], key, "cheapest")[0] for key in keys}
    assert all(70 < list(before.values()).count(name) < 130 for name in NAMES)
    assert all(after[key] == before[key] for key in keys if before[key] != "a")


@given(choices, st.binary(min_size=1, max_size=32))
def test_by_price_nobody_answers_who_costs_more_than_another_would(some: list[Choice], key: bytes) -> None:
    first = by_affinity(some, key, "cheapest")[0]
    chosen = next(each for each in some if each.name == first)
    real = chosen.cost if chosen.warm_cost is None else min(chosen.cost, chosen.warm_cost)
    assert real <= min(each.cost for each in some)
