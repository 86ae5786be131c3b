"""Budget steps: what budgets ask for before they are used up, from where they stood before the request.

Every step that a budget has reached counts, of every budget a request spends from; so the strictest of any counts.
`block` and `queue` are no matter of the level before: they are limits of the hold itself (`Budget.blocks_at`), which
no two requests can pass together.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from governance.counters import Level
from governance.limits import Budget, Step, StepAction


@dataclass(frozen=True, slots=True)
class Pressure:
    """What a request's budgets ask of it.

    Attributes:
        alert: One has reached a step that people should hear of.
        downgrade: By how many tiers its model should be cheaper.
        tighten: Its answer should be shorter, and a stored one will do however old it is.
    """

    alert: bool = False
    downgrade: int = 0
    tighten: bool = False


RELAXED = Pressure()
"""Nothing is asked."""


def stepped(budgets: Iterable[Budget]) -> tuple[Budget, ...]:
    """Return the budgets whose level matters before a hold."""
    return tuple(budget for budget in budgets if budget.each is None and any(map(_is_felt, budget.steps)))


def pressure(standings: Iterable[tuple[Budget, Level]]) -> Pressure:
    """Return what budgets at these levels ask for."""
    reached = [
        [
            step.action
            for step in budget.steps
            if (level.settled + level.held) * 100 >= step.percent * budget.limit.nanos
        ]
        for budget, level in standings
    ]
    return Pressure(
        alert=any(StepAction.ALERT in actions for actions in reached),
        downgrade=max((actions.count(StepAction.DOWNGRADE) for actions in reached), default=0),
        tighten=any(StepAction.TIGHTEN in actions for actions in reached),
    )


def _is_felt(step: Step) -> bool:
    return step.action in {StepAction.ALERT, StepAction.DOWNGRADE, StepAction.TIGHTEN}
