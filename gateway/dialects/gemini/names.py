"""What models are called, and what their names tell. Spec: the Gemini API reference, "Models"; its guide "Thinking"."""

import re

_OF_BUDGETS = re.compile(r"(.*/)?gemini-[12]\b")


def to_resource(model: str) -> str:
    """Return the name of a model as a path below the address; one that says where it stands stays as it is."""
    return model if "/" in model else f"models/{model}"


def thinks_by_level(model: str) -> bool:
    """Whether a model is told a level of thinking, as all are since the third series, and not a budget of tokens."""
    return _OF_BUDGETS.match(model) is None
