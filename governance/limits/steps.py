"""Budget steps: what budgets ask for before they are used up, from where they stood before the request.

Every step that a budget has reached counts, of every budget a request spends from; so the strictest of any counts.
`block` and `queue` are no matter of the level before: they are limits of the hold itself (`Budget.blocks_at`), which
no two requests can pass together.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from governance.counters import Level
from governance.limits import Budget, StepAction


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


def begins_at(budget: Budget) -> int | None:
    """Return the percentage of a budget, times its amount, from which its level matters before a hold; None for never.

    Never is also where the value of its dimension is not known.
    """
    felt = [step.percent for step in budget.steps if step.action in _FELT]
    return None if budget.each is not None or not felt else min(felt) * budget.limit.nanos


def stepped(budgets: Iterable[Budget]) -> tuple[Budget, ...]:
    """Return the budgets whose level matters before a hold."""
    return tuple([budget for budget in budgets if begins_at(budget) is not None])


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


_FELT: Final = (StepAction.ALERT, StepAction.DOWNGRADE, StepAction.TIGHTEN)
