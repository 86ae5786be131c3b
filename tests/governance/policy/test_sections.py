from decimal import Decimal

import pytest
from pydantic import ValidationError

from governance.limits import Step, StepAction
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
    TeamSection,
)
from governance.windows import SESSION, Rolling, Span, WindowKind


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


@pytest.mark.parametrize(
    ("window", "span", "dimension"),
    [("day", WindowKind.DAY, None), ("7d", Rolling(604_800), None), ("session", SESSION, "session")],
)
def test_a_budget_runs_over_the_calendar_a_span_or_a_session(window: str, span: Span, dimension: str | None) -> None:
    budget = BudgetSection.model_validate({"limit": 1, "window": window})
    assert (budget.window, budget.dimension) == (span, dimension)
    assert budget.model_dump(include={"window"}) == {"window": window}


@pytest.mark.parametrize("window", ["fortnight", "0d", "7", "400d", "7 d", "1s", 8, None, ["day"]])
def test_any_other_window_is_refused(window: object) -> None:
    with pytest.raises(ValidationError):
        BudgetSection.model_validate({"limit": 1, "window": window})


@pytest.mark.parametrize(
    "budget",
    [
        {"window": "session", "each": "user"},
        {"window": "day", "each": "model", "steps": {"50%": "downgrade"}},
        {"window": "day", "each": "model", "steps": {"50%": "block"}},
        {"window": "day", "each": "key"},
    ],
)
def test_a_budget_for_each_value_must_make_sense(budget: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        BudgetSection.model_validate({"limit": 1} | budget)


def test_steps_climb_in_the_order_of_their_percentages() -> None:
    budget = BudgetSection.model_validate({"limit": 1, "window": "day", "steps": {"100%": "block", "70%": "alert"}})
    assert budget.ladder == (Step(70, StepAction.ALERT), Step(100, StepAction.BLOCK))
