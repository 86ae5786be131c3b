"""What a first caller could ask for under a policy: an app of it, and a model that this app may use."""

from dataclasses import dataclass

from gateway.policy.document import Policy
from governance.attribution import Attribution
from governance.policy.rules import Rules

_DEMO = ("demo", "demo")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An app of the policy, and a chat model or route that it may use; None when it may use none."""

    team: str
    app: str
    model: str | None

    @property
    def is_demo(self) -> bool:
        """Whether this is the app whose key the gateway makes by itself."""
        return (self.team, self.app) == _DEMO


def suggest(policy: Policy, rules: Rules) -> Suggestion | None:
    """Return the demo app, or else the policy's first; None when it has no app."""
    first = rules.app(*_DEMO) or next(iter(rules.apps()), None)
    return first and Suggestion(first.team, first.app, _model(policy, rules, first.team, first.app))


def _model(policy: Policy, rules: Rules, team: str, app: str) -> str | None:
    tiers = rules.grant(Attribution(team, app), "").tiers
    usable = [model.name for model in policy.models if model.kind == "chat" and model.tier in tiers]
    routes = (route.name for route in policy.routes if not set(usable).isdisjoint(route.models))
    return next(routes, next(iter(usable), None))
