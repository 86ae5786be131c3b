from decimal import Decimal

import pytest
from pydantic import ValidationError

from governance.money import Nanodollars
from governance.policy.sections import (
    Allowance,
    AppSection,
    BudgetSection,
    LimitsSection,
    MaxTokens,
    OnStoreError,
    ScopedBudget,
    Section,
    StepAction,
    TeamSection,
)
from governance.windows import WindowKind


def test_a_budget_reads_its_steps_as_percentages() -> None:
    budget = BudgetSection.model_validate({"limit": 500, "window": "month", "steps": {"70%": "alert", "100%": "block"}})
    assert budget.limit == Nanodollars(500 * 10**9)
    assert budget.window is WindowKind.MONTH
    assert dict(budget.steps) == {70: StepAction.ALERT, 100: StepAction.BLOCK}


@pytest.mark.parametrize(
    ("section", "data"),
    [
        (BudgetSection, {"window": "day"}),
        (BudgetSection, {"limit": 1}),
        (BudgetSection, {"limit": 0, "window": "day"}),
        (BudgetSection, {"limit": 1, "window": "year"}),
        (BudgetSection, {"limit": 1, "window": "day", "per_request": 0}),
        (BudgetSection, {"limit": 1, "window": "day", "steps": {"70%": "explode"}}),
        (BudgetSection, {"limit": 1, "window": "day", "scope": "org"}),
        (ScopedBudget, {"limit": 1, "window": "day"}),
        (ScopedBudget, {"limit": 1, "window": "day", "scope": "team:a/b"}),
        (ScopedBudget, {"limit": 1, "window": "day", "scope": "everyone"}),
        (LimitsSection, {"concurrent": 0}),
        (LimitsSection, {"concurrent": True}),
        (LimitsSection, {"concurrent": "40"}),
        (LimitsSection, {"requests_per_minute": Decimal("1.5")}),
        (MaxTokens, {"default": 10, "ceiling": 9}),
        (TeamSection, {"name": "a/b"}),
        (TeamSection, {"name": "a b"}),
        (TeamSection, {"name": ""}),
        (TeamSection, {"name": "a", "hash_user": "yes"}),
        (TeamSection, {"name": "a", "alerts": {"webhook": "not an address"}}),
        (AppSection, {"name": "a", "headers": ["team"]}),
        (AppSection, {"name": "a", "headers": ["model"]}),
        (AppSection, {"name": "a", "defaults": {"app": "b"}}),
        (AppSection, {"name": "a", "deferred": {"window": "22-6"}}),
        (AppSection, {"name": "a", "deferred": {"window": "24:00-06:00"}}),
    ],
)
def test_a_section_that_makes_no_sense_is_refused(section: type[Section], data: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        section.model_validate(data)


class Store(Section):
    on: OnStoreError


def test_a_lost_store_closes_opens_or_allows_an_amount() -> None:
    assert Store.model_validate({"on": "closed"}).on == "closed"
    assert Store.model_validate({"on": {"allowance_usd": 1}}).on == Allowance(allowance_usd=Nanodollars(10**9))
    with pytest.raises(ValidationError) as refusal:
        Store.model_validate({"on": "ajar"})
    assert refusal.value.error_count() == 1
