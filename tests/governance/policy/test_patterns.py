import re

import pytest
from pydantic_core import PydanticCustomError

from governance.policy.patterns import MAX_PATTERN, parse_pattern


@pytest.mark.parametrize(
    "text",
    [
        "^ent-",
        ".*",
        r"(?i)project\s+nightjar",
        r"(?:\d{4}-){3}",
        "(a|b)*c+",
        "(a++)+$",
        "(?>a+)+",
        "(ab?)*",
        "[a-z]+@x",
    ],
)
def test_patterns_people_write_are_compiled(text: str) -> None:
    assert parse_pattern(text) == re.compile(text)


@pytest.mark.parametrize("text", ["(a+)+$", r"(\w+\s)*x", "(a{1,3})*", "((a|b)+)+?", "(?:(?=a+)b)*", "(a|b+){2,9}"])
def test_a_repeat_of_a_repeat_is_refused_with_a_way_out(text: str) -> None:
    with pytest.raises(PydanticCustomError, match="exponential") as refusal:
        parse_pattern(text)
    assert "possessive" in (refusal.value.context or {})["hint"]


@pytest.mark.parametrize(
    "text", ["(", "[", "*", "a{2,1}", "(?P<x>a)(?P<x>b)", "a{99999999999999999999}", "(" * 400 + ")" * 400]
)
def test_what_is_no_pattern_is_refused_with_the_reason(text: str) -> None:
    with pytest.raises(PydanticCustomError):
        parse_pattern(text)


@pytest.mark.parametrize("value", ["", "x" * (MAX_PATTERN + 1), 7, None])
def test_what_is_no_short_text_is_refused(value: object) -> None:
    with pytest.raises(PydanticCustomError, match="1 to 500 characters"):
        parse_pattern(value)
