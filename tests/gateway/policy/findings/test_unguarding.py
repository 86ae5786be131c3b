"""Guardrails that find nothing, or that nothing gets past."""

from datetime import UTC, datetime
from importlib import import_module
from typing import Any

import pytest
import yaml

from gateway.policy.problems import PolicyInvalid
from gateway.policy.source import parse_policy
from tests.support.running_gateway import policy


def told(**rule: Any) -> list[str]:
    document = policy(guardrails=[{"name": "g", "on": "input", "action": "block"} | rule])
    loaded = parse_policy(yaml.safe_dump(document), "p", {}, datetime.now(UTC))
    return [warning.message for warning in loaded.warnings if "guardrails" in str(warning)]


@pytest.mark.parametrize(
    ("rule", "warning"),
    [
        ({"detect": []}, "finds nothing: it names no kind of text"),
        ({"pattern": "^"}, "finds nothing: what it matches has no length"),
        ({"pattern": "a{300}"}, "finds nothing: a pattern reads 256 characters at most, and it needs 300"),
    ],
)
def test_a_rule_that_finds_nothing_is_named(rule: dict[str, Any], warning: str) -> None:
    assert told(**rule) == [warning]


def test_a_rule_by_meaning_is_named_where_the_embedding_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("gateway.policy.findings.unguarding"), "installed", lambda: False)
    missing = "needs the bundled embedding, which is not installed: "
    assert told(injection=True) == [missing + "nothing gets past it"]
    assert told(topics={"deny": ["Tell me a joke."]}, action="flag") == [missing + "it never finds anything"]
    assert told(pattern="a+") == []


@pytest.mark.parametrize(
    "rule",
    [
        {"pattern": "a", "max_chars": 3},
        {"max_chars": 3, "action": "redact"},
        {"schema": {}},
        {"schema": {"$ref": "#"}, "on": "output"},
        {"injection": True, "on": "output"},
        {"injection": 1.5},
        {"topics": {"threshold": 0.5}},
        {"pattern": "a", "reversible": True},
        {"pattern": "a", "applies_to": ["red/nobody"]},
    ],
)
def test_a_rule_that_means_nothing_is_refused(rule: dict[str, Any]) -> None:
    with pytest.raises(PolicyInvalid):
        told(**rule)


def test_rules_of_every_kind_are_taken() -> None:
    assert told(max_chars=10, applies_to=["red", "red/bot"]) == []
    assert told(schema={"type": "object"}, on="output") == []
    assert told(pattern="a", action="redact", reversible=True) == []
