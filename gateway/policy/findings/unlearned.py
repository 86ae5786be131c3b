"""Features that a semantic cache never serves, and a semantic cache that has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cache.config import ANSWERS
from governance.attribution import Attribution

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gateway.policy.document import Policy
    from gateway.policy.problems import Problem, Reporter

_SECTION = ("cache", "semantic")


def unlearned(report: Reporter, document: Policy, unpriced: Mapping[str, str]) -> Iterator[Problem]:
    """Find features that are named twice or in vain, and a judge that may not or cannot be asked about them."""
    section = document.cache.semantic
    if section is None:
        return
    if not (section.enabled or section.observe):
        yield report.at(_SECTION, "looks nothing up: it names no feature", "name some in enabled or observe")
    for place, name in enumerate(section.observe):
        if name in section.enabled:
            told = f'"{name}" is enabled already, and learns just the same'
            yield report.at((*_SECTION, "observe", place), told, "leave one of them out")
    if section.judge != ANSWERS:
        yield from _judge(report, document, section.judge, unpriced)


def _judge(report: Reporter, document: Policy, judge: str, unpriced: Mapping[str, str]) -> Iterator[Problem]:
    """Find the features whose answers a model cannot compare: they stay closed for ever."""
    model = next(model for model in document.models if model.name == judge)
    if model.kind != "chat" or judge in unpriced:
        why = "answers no chats" if model.kind != "chat" else "has no price and never answers"
        yield report.at((*_SECTION, "judge"), f'"{judge}" {why}: every feature stays closed', "name another")
        return
    rules, section = document.rules(), document.cache.semantic
    for team in document.teams:
        for app in team.apps:
            for feature in app.features:
                taken = section is not None and section.takes(app.name, feature.name)
                own = rules.grant(Attribution(team.name, app.name, feature.name), "").tiers
                if taken and model.tier not in own:
                    told = f'{team.name}/{app.name}/{feature.name} may not use "{judge}", so it stays closed'
                    yield report.at((*_SECTION, "judge"), told, f'allow it tier "{model.tier}", or judge by {ANSWERS}')
