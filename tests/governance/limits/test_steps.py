"""What budgets ask for before they are used up."""

import pytest

from governance.counters import Level
from governance.limits import Budget, Step, StepAction, dimensions_of, resolve
from governance.limits.steps import RELAXED, Pressure, begins_at, pressure, stepped
from governance.windows import SESSION, WindowKind
from tests.support.requests import usd

A, D, T, Q, B = StepAction
LADDER = (Step(70, A), Step(85, D), Step(95, T), Step(100, B))


def budget(*steps: Step) -> Budget:
    return Budget("org", usd("1"), WindowKind.DAY, steps=steps)


def level(percent: int) -> Level:
    return Level(percent * 5_000_000, percent * 5_000_000)


@pytest.mark.parametrize(
    ("percent", "asked"),
    [
        (69, RELAXED),
        (70, Pressure(alert=True)),
        (85, Pressure(alert=True, downgrade=1)),
        (96, Pressure(alert=True, downgrade=1, tighten=True)),
    ],
)
def test_every_step_that_was_reached_counts(percent: int, asked: Pressure) -> None:
    assert pressure([(budget(*LADDER), level(percent))]) == asked


def test_each_downgrade_is_one_tier_more_and_the_strictest_budget_counts() -> None:
    twice, once = budget(Step(50, D), Step(60, D)), budget(Step(10, D), Step(20, T))
    assert pressure([(once, level(15)), (twice, level(60))]) == Pressure(downgrade=2)
    assert pressure([(once, level(25)), (twice, level(10))]) == Pressure(downgrade=1, tighten=True)


@pytest.mark.parametrize(
    ("steps", "blocks_at", "queues"),
    [
        ((), "1", False),
        (LADDER, "1", False),
        ((Step(50, B),), "0.50", False),
        ((Step(90, Q), Step(100, B)), "0.90", True),
        ((Step(100, D),), None, False),
        ((Step(90, A),), None, False),
    ],
)
def test_a_budget_blocks_where_its_steps_say(steps: tuple[Step, ...], blocks_at: str | None, queues: bool) -> None:
    made = budget(*steps)
    assert made.blocks_at == (None if blocks_at is None else usd(blocks_at))
    assert made.queues is queues


def test_only_budgets_with_steps_before_the_end_are_looked_at() -> None:
    felt, blind = budget(Step(80, T), Step(40, A), Step(20, B)), budget(Step(100, B))
    assert begins_at(felt) == 40 * felt.limit.nanos
    assert begins_at(blind) is None
    assert stepped([felt, blind]) == (felt,)


def test_a_budget_whose_value_is_not_known_is_not_looked_at() -> None:
    assert begins_at(Budget("org", usd("1"), SESSION, each="model", steps=(Step(10, A),))) is None


def test_a_budget_for_each_value_becomes_that_of_the_request() -> None:
    each = Budget("team:a", usd("1"), WindowKind.DAY, each="session")
    (mine,) = resolve([each], {"session": "x/y?z=ü"})
    assert mine.scope == "team:a?session=x%2Fy%3Fz%3D%C3%BC"
    assert dimensions_of(mine.scope) == {"team": "a", "session": "x/y?z=ü"}
    assert resolve([each], {"session": "unattributed"}) == ()
    assert resolve([each], {"user": "ann"}) == (each,)


def test_a_budget_for_each_user_reads_the_column_of_users() -> None:
    (mine,) = resolve([Budget("org", usd("1"), WindowKind.DAY, each="user")], {"user": "ann"})
    assert dimensions_of(mine.scope) == {"end_user": "ann"}
