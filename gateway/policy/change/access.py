"""Which models each app and feature of a policy may use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance.attribution import Attribution

if TYPE_CHECKING:
    from gateway.policy.source import LoadedPolicy
    from governance.policy.rules import Grant

ANY_KEY = ""
"""No key at all: budgets of single keys say nothing about models."""


def reach(policy: LoadedPolicy) -> dict[str, frozenset[str]]:
    """Name the models of every app (`support/bot`), and of every feature that may use others than its app.

    A model without a price is nobody's: it may not be called.
    """
    found: dict[str, frozenset[str]] = {}
    for team in policy.document.teams:
        for app in team.apps:
            whole = found[f"{team.name}/{app.name}"] = models_of(policy, team.name, app.name)
            for feature in app.features:
                own = models_of(policy, team.name, app.name, feature.name)
                if own != whole:
                    found[f"{team.name}/{app.name}/{feature.name}"] = own
    return found


def models_of(policy: LoadedPolicy, team: str, app: str, feature: str = "") -> frozenset[str]:
    """Name the models that requests of an app, or of one of its features, may be answered by; none for no such app."""
    if policy.rules.app(team, app) is None:
        return frozenset()
    return models_in(policy, policy.rules.grant(Attribution(team, app, feature), ANY_KEY))


def models_in(policy: LoadedPolicy, grant: Grant) -> frozenset[str]:
    """Name the models that a grant holds and that have a price."""
    return frozenset(
        model.name
        for model in policy.document.models
        if grant.permits(model.name, model.tier) and model.name not in policy.unpriced
    )
