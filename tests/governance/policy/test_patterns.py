import re
import time

import pytest
from pydantic_core import PydanticCustomError

from governance.policy.patterns import LONGEST_TEXT, MAX_PATTERN, parse_pattern


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
        "(?:foo|bar|qu+x)",
        "(?:foo|bar)+$",
        "(ab?+)*",
        "[a-z]+@x",
        "https?://.*",
        "^(?!test-).*",
    ],
)
def test_patterns_people_write_are_compiled(text: str) -> None:
    assert parse_pattern(text) == re.compile(text)


SLOW = {
    "(a+)+$": "a",
    "^(?:aa|a)*$": "a",
    "(?:a?a)*$": "a",
    r"\w*\w*\w*\w*\w*!$": "a",
    "a?" * 30 + "a{30}b": "a",
    "(?:a|aa)" * 40 + "b": "a",
    "(?:ab|a|b)*$": "ab",
    "(?i)(?:ka|\N{KELVIN SIGN}a)*$": "ka",
    r"(\w+\s)*x": "a ",
    "(a{1,3})*": "a",
    "((a|b)+)+?": "ab",
    "(?:(?=a+)b)*": "a",
    "(a|b+){2,9}": "ab",
    "(?:(?:){60000}){60000}": "",
    "(?:(?:a?+){60000}){60000}": "",
    r"(?:\w*\w*\w*\w*)?+!": "a",
    r"(?>\w*\w*\w*\w*!)": "a",
    "(?>a){0,200}[^b]*(a)++$": "a",
    "a*a*(?>a*)b": "a",
    r"(a*)(a*)\1b": "a",
}


@pytest.mark.parametrize("text", SLOW)
def test_a_pattern_that_can_match_in_too_many_ways_is_refused_with_a_way_out(text: str) -> None:
    with pytest.raises(PydanticCustomError, match="may take too long") as refusal:
        parse_pattern(text)
    assert "possessive" in (refusal.value.context or {})["hint"]


@pytest.mark.parametrize(
    "text", [r"\w*\w*!$", ".*a.*b", "(a++)+$", "(?:foo|bar)+$", r"(?>\w+!)+$", "(?:a|aa)(?:a|aa)a*b"]
)
def test_the_slowest_patterns_that_are_accepted_are_fast(text: str) -> None:
    pattern, began = parse_pattern(text), time.process_time()
    pattern.search("a" * LONGEST_TEXT)
    assert time.process_time() - began < 1


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
