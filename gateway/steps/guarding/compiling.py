"""From the guardrails of a policy to the rules that are obeyed."""

from collections.abc import Iterable

from gateway.policy.safeguards import Guardrail
from governance.guardrails.rules import Detecting, Injection, Length, LooksFor, Matching, Rule, Rules, Shaped, Topics


def compiled(sections: Iterable[Guardrail]) -> Rules:
    """Return the rules that a policy's sections stand for, in their order."""
    return Rules(
        tuple(
            Rule(
                name=section.name,
                on=section.on,
                action=section.action,
                looks_for=_sought(section),
                applies_to=frozenset(section.applies_to),
                reversible=section.reversible,
            )
            for section in sections
        )
    )


def _sought(section: Guardrail) -> LooksFor:
    match section:
        case Guardrail(detect=kinds) if kinds is not None:
            return Detecting(kinds)
        case Guardrail(pattern=pattern) if pattern is not None:
            return Matching(pattern)
        case Guardrail(max_chars=most) if most is not None:
            return Length(most)
        case Guardrail(json_schema=schema) if schema is not None:
            return Shaped(schema)
        case Guardrail(topics=topics) if topics is not None:
            return Topics(topics.allow or topics.deny, bool(topics.allow), topics.threshold)
        case _:
            return Injection(None if section.injection is True else section.injection)
