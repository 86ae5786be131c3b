import pytest

from governance.errors import Forbidden
from governance.people.roles import OWNER, Person, Right, Role

LEAD = Person("l", "Lea", Role.TEAM_LEAD, "red")
CHANGES = {Right.CHANGE_KEYS, Right.CHANGE_PEOPLE, Right.CHANGE_POLICY}


@pytest.mark.parametrize("right", Right)
def test_the_owner_may_do_everything_everywhere(right: Right) -> None:
    OWNER.require(right)
    OWNER.require(right, "red")


@pytest.mark.parametrize("right", Right)
def test_an_auditor_sees_everything_and_changes_nothing(right: Right) -> None:
    auditor = Person("a", "Aud", Role.AUDITOR)
    if right in CHANGES:
        with pytest.raises(Forbidden, match="auditor"):
            auditor.require(right)
    else:
        auditor.require(right, "red")


def test_the_platform_makes_no_people() -> None:
    platform = Person("p", "Pat", Role.PLATFORM)
    platform.require(Right.CHANGE_KEYS, "red")
    platform.require(Right.CHANGE_POLICY)
    with pytest.raises(Forbidden, match="change people"):
        platform.require(Right.CHANGE_PEOPLE)


def test_a_team_lead_acts_for_one_team() -> None:
    LEAD.require(Right.CHANGE_KEYS, "red")
    LEAD.require(Right.SEE_SPEND)
    with pytest.raises(Forbidden, match="may not change keys of team 'blue'"):
        LEAD.require(Right.CHANGE_KEYS, "blue")


@pytest.mark.parametrize("right", [Right.CHANGE_PEOPLE, Right.CHANGE_POLICY, Right.SEE_PEOPLE, Right.SEE_POLICY])
def test_a_team_lead_leaves_people_and_policy_alone(right: Right) -> None:
    with pytest.raises(Forbidden):
        LEAD.require(right)
