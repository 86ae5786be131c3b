"""The sections of a policy that govern: teams, apps and features with their budgets, limits and output rules.

A section says what was written, checked for shape only; `rules.py` compiles it into what a request asks. Names that
point elsewhere in the document (tiers, routes) are checked where the whole document is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import AnyHttpUrl, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from governance.limits import Budget, Each, Step, StepAction
from governance.policy.contexts import ContextSection
from governance.policy.fields import Count, Dollars, Flag, Percent, PositiveDollars, Section, Window
from governance.policy.patterns import Pattern
from governance.windows import SESSION

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
"""What a team, app, feature or tier is called: it appears in scopes (`app:team/app`) and headers, unescaped."""

Settable = Literal["feature", "workflow", "segment", "environment", "session"]
"""The dimensions that callers may set, where their app lets them. Team and app are never among them."""


class BudgetSection(Section):
    """An amount that may be spent in each window.

    Attributes:
        limit: The amount.
        window: `minute`, `hour`, `day`, `week`, `month` or `quarter` of the calendar in the policy's time zone; the
            last so long, such as `24h` or `7d`; or `session`, for each session of its own.
        each: A dimension each value of which has the amount to itself; a request without a value is not under it.
        per_request: The most that a single request may cost.
        steps: What happens when a percentage of the limit is used. Without any, the budget blocks at 100 %; with some,
            it blocks or queues only where they say so, and may otherwise be overrun.
    """

    limit: PositiveDollars
    window: Window
    each: Each | None = None
    per_request: PositiveDollars | None = None
    steps: Mapping[Percent, StepAction] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_value_at_a_time(self) -> Self:
        if self.window == SESSION and self.each not in {None, "session"}:
            raise PydanticCustomError("each", 'a window of a session is for each session: leave "each" out')
        if self.each == "model" and self.steps.keys() - {100} | set(self.steps.values()) - {StepAction.BLOCK}:
            raise PydanticCustomError("each", "a budget for each model can only block at 100%: steps choose the model")
        return self

    @property
    def dimension(self) -> Each | None:
        """The dimension each value of which has this budget to itself."""
        return "session" if self.window == SESSION else self.each

    @property
    def per(self) -> str:
        """What the amount is for, in words: `month`, or `month for each user`."""
        return (
            self.window.value
            if self.window == SESSION or not self.each
            else f"{self.window.value} for each {self.each}"
        )

    @property
    def ladder(self) -> tuple[Step, ...]:
        """The steps, from the bottom."""
        return tuple(Step(percent, action) for percent, action in sorted(self.steps.items()))

    def of(self, scope: str) -> Budget:
        """Return the budget that this is for a scope."""
        return Budget(scope, self.limit, self.window, self.per_request, self.ladder, self.dimension)


class ScopedBudget(BudgetSection):
    """A budget at the top of the document, which says whose it is.

    Attributes:
        scope: `org`, `team:T`, `app:T/A`, `feature:T/A/F` or `key:<public id>`.
    """

    scope: Annotated[
        str, Field(pattern=r"^(org|team:[^/:]+|app:[^/:]+/[^/:]+|feature:[^/:]+/[^/:]+/[^/:]+|key:[^/:]+)$")
    ]


class LimitsSection(Section):
    """How much may happen at once or within a minute; None is no limit."""

    requests_per_minute: Count | None = None
    tokens_per_minute: Count | None = None
    concurrent: Count | None = None


class MaxTokens(Section):
    """How long an answer may be, in tokens.

    Attributes:
        default: For requests that do not say.
        ceiling: For all; a request that asks for more gets this much.
    """

    default: Count | None = None
    ceiling: Count | None = None

    @model_validator(mode="after")
    def _default_fits(self) -> Self:
        if self.default is not None and self.ceiling is not None and self.default > self.ceiling:
            raise PydanticCustomError(
                "ceiling",
                "ceiling {ceiling} is below default {default}",
                {"ceiling": self.ceiling, "default": self.default},
            )
        return self


class Effort(Section):
    """The most effort a reasoning model may be asked for."""

    ceiling: Literal["none", "minimal", "low", "medium", "high"]


class OutputSection(Section):
    """What answers may look like.

    Attributes:
        max_tokens: Their length.
        stop: Texts that end every answer, besides those a request names; None inherits.
        reasoning_effort: The most effort a reasoning model may be asked for.
    """

    max_tokens: MaxTokens = MaxTokens()
    stop: tuple[Annotated[str, Field(min_length=1)], ...] | None = None
    reasoning_effort: Effort | None = None


class Alerts(Section):
    """Where alerts go."""

    webhook: AnyHttpUrl | None = None


class Deferred(Section):
    """When an app's work may wait.

    Attributes:
        window: Local times between which deferred work runs, such as `22:00-06:00`.
        provider_batch: It may go to the providers' batch APIs.
    """

    window: Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$")]
    provider_batch: Flag = False


class DeferredWork(Section):
    """How much deferred work is done beside what people wait for.

    Attributes:
        concurrency: How many lines of batches run at the same time, over all processes.
        yield_above: While more interactive requests than this are in flight in a process, it begins no line.
    """

    concurrency: Count = 4
    yield_above: Annotated[int, Field(strict=True, ge=0)] = 8


class Member(Section):
    """What a team, an app and a feature have in common.

    Attributes:
        name: Unique within what is around it.
        tiers: The tiers of models it may use, out of those around it; None for all of them.
        output: What its answers may look like; what is absent is as around it.
        context: How much context its requests may carry; what is absent is as around it.
        budgets: What it may spend.
        limits: How much it may do at once.
    """

    name: Name
    tiers: tuple[Name, ...] | None = None
    output: OutputSection | None = None
    context: ContextSection | None = None
    budgets: tuple[BudgetSection, ...] = ()
    limits: LimitsSection | None = None


class FeatureSection(Member):
    """One feature of an app.

    Attributes:
        route: The route that answers its requests.
        floor: The cheapest tier that a budget may downgrade its requests to.
    """

    route: str | None = None
    floor: Name | None = None


class AppSection(Member):
    """One application of a team.

    Attributes:
        headers: Dimensions that its callers may set.
        defaults: Values of dimensions that nobody set.
        deferred: When its work may wait.
        features: Its features.
    """

    headers: tuple[Settable, ...] = ()
    defaults: Mapping[Settable, Annotated[str, Field(min_length=1, max_length=200)]] = Field(default_factory=dict)
    deferred: Deferred | None = None
    features: tuple[FeatureSection, ...] = ()


class TeamSection(Member):
    """One team, the unit that pays.

    Attributes:
        segments: Patterns over the user id, in order; the first that is found in it names the user's segment.
        hash_user: Keep user ids only as digests.
        alerts: Where its alerts go.
        apps: Its applications.
    """

    segments: Mapping[Name, Pattern] = Field(default_factory=dict)
    hash_user: Flag = False
    alerts: Alerts | None = None
    apps: tuple[AppSection, ...] = ()


def scope_of(*path: Member) -> str:
    """Name the scope of a team, of one of its apps, or of one of the app's features."""
    kind = {1: "team", 2: "app", 3: "feature"}[len(path)]
    return f"{kind}:{'/'.join(section.name for section in path)}"


def members(teams: Iterable[TeamSection]) -> Iterator[tuple[str, Member]]:
    """Yield every team, app and feature with its scope, from the outside in."""
    for team in teams:
        yield scope_of(team), team
        for app in team.apps:
            yield scope_of(team, app), app
            for feature in app.features:
                yield scope_of(team, app, feature), feature


class Allowance(Section):
    """Serve on while the store is away, up to an amount per process."""

    allowance_usd: Dollars


def _form(value: object) -> str:
    return "allowance" if isinstance(value, Mapping | Allowance) else "word"


OnStoreError = Annotated[
    Annotated[Literal["closed", "open"], Tag("word")] | Annotated[Allowance, Tag("allowance")], Discriminator(_form)
]
"""What to do when the counters cannot be reached: refuse, serve on, or serve on up to an amount."""


class Holds(Section):
    """How much is held for a request while nobody knows yet what it costs.

    Attributes:
        prompt: `bound` holds a token for every byte of it, which no prompt is above, so that no budget is ever
            overrun. `calibrated` holds what all but about one in a hundred of the model's recent prompts kept to:
            less, but a prompt that has more is overspent, and counted in `sluice_overshot_usd`.
    """

    prompt: Literal["bound", "calibrated"] = "bound"
