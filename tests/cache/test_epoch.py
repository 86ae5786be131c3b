from typing import Any

from cache.epoch import epoch
from gateway.policy.document import Policy


def named(version: str | None = None, **sections: Any) -> str:
    document = Policy.model_validate({"version": 1, "providers": {}, "tiers": ["local"], "models": []} | sections)
    return epoch(version, document.output, document.context, document.guardrails)


RULE = {"name": "terms", "on": "input", "pattern": "(?i)night", "action": "block"}


def test_an_epoch_ends_when_anything_that_shapes_answers_changes() -> None:
    epochs = [
        named(),
        named("1"),
        named("2"),
        named(output={"stop": ["END"]}),
        named(output={"max_tokens": {"ceiling": 5}}),
        named(context={"max_input_tokens": 5}),
        named(guardrails=[RULE]),
        named(guardrails=[RULE | {"pattern": "night"}]),
        named(guardrails=[RULE | {"action": "flag"}]),
    ]
    assert len(set(epochs)) == len(epochs)


def test_an_epoch_goes_on_when_it_does_not() -> None:
    assert named(timezone="Europe/London", guardrails=[RULE]) == named(guardrails=[RULE])
