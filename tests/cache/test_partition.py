import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.config import SharedBy
from cache.partition import partition

NAMES = st.text(max_size=5)


@pytest.mark.parametrize(
    ("shared_by", "differs"),
    [
        (SharedBy.KEY, {"team", "app", "key_id", "namespace"}),
        (SharedBy.APP, {"team", "app", "namespace"}),
        (SharedBy.TEAM, {"team", "namespace"}),
        (SharedBy.ORG, {"namespace"}),
    ],
)
def test_callers_share_if_and_only_if_the_policy_says_so(shared_by: SharedBy, differs: set[str]) -> None:
    caller = {"team": "t", "app": "a", "key_id": "k", "namespace": "n"}
    for part in caller:
        other = partition(shared_by, **{**caller, part: "other"})
        assert (other != partition(shared_by, **caller)) == (part in differs)


@given(NAMES, NAMES, NAMES, NAMES)
def test_names_cannot_be_chosen_so_that_two_apps_collide(team: str, app: str, team2: str, app2: str) -> None:
    one = partition(SharedBy.APP, team=team, app=app, key_id="k")
    two = partition(SharedBy.APP, team=team2, app=app2, key_id="k")
    assert (one == two) == ((team, app) == (team2, app2))


def test_a_namespace_cannot_reach_into_another_sharing_group() -> None:
    assert partition(SharedBy.TEAM, team="t", app="a", key_id="k", namespace="b") != partition(
        SharedBy.APP, team="t", app="b", key_id="k"
    )


def test_no_namespace_is_not_the_namespace_called_null() -> None:
    assert partition(SharedBy.ORG, team="", app="", key_id="") != partition(
        SharedBy.ORG, team="", app="", key_id="", namespace="null"
    )
