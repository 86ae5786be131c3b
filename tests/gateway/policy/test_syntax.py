"""A slip in YAML is told where it was made and in words that help; the parser's own words never show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.policy.positions import parse

JARGON = ("block", "token", "scalar", "stream", "node", "expected", "mapping values", "alias")


@pytest.mark.parametrize(
    ("text", "line", "column", "told"),
    [
        ("version 1\nproviders:\n  x: 1\n", 1, 1, "needs a colon after its name"),
        ("a: 1\nname\n\n# note\nb: 2\n", 2, 1, "needs a colon after its name"),
        ("a:\n  name\n  # note\n  b: 2\n", 2, 3, "needs a colon after its name"),
        ("a: b: c\n", 1, 5, "has a second colon: put quotes"),
        ("a:\n  b: 1\n c: 2\n", 3, 2, "is not indented like the lines around it"),
        ("a: 1\n  b: 2\n", 2, 3, "is not indented like the lines around it"),
        ("teams:\n  - name: a\n   apps: []\n", 3, 4, "is not indented like the lines around it"),
        ("a:\n\t- b\n", 2, 1, "has a tab: indent with spaces"),
        ("- a\nb: 1\n", 2, 1, "mixes a list and a mapping"),
        ("a: 1\n- b\n", 2, 1, "mixes a list and a mapping"),
        ("a: [1, 2\nb: 3\n", 1, 4, 'opens a bracket that is never closed: "]" is missing'),
        ("a: {x: 1\n", 1, 4, 'opens a bracket that is never closed: "}" is missing'),
        ("a: }\n", 1, 4, "has a closing } without its opening"),
        ("a: [1]]\n", 1, 7, "has a closing ] without its opening"),
        ("b: {c: ${X}}\n", 1, 9, "has a { inside a text: put quotes"),
        ('a: ["x" "y"]\n', 1, 9, "a comma is missing"),
        ('a: "x" y\n', 1, 8, "has a second text here"),
        ('a: "x\nb: 1\n', 1, 4, "opens a quoted text that is never closed"),
        ("a: @x\n", 1, 4, "starts with @, which YAML keeps for itself"),
        ("a: *x\n", 1, 4, "starts with & or *, which YAML keeps for itself"),
        ('a: "\\q"\n', 1, 6, "has a backslash that escapes nothing"),
        ("a: 1\n---\nb: 2\n", 2, 1, "begins a second document"),
    ],
)
def test_a_slip_is_told_where_it_was_made(text: str, line: int, column: int, told: str) -> None:
    (fault,) = parse(text).faults
    assert (fault.place.line, fault.place.column) == (line, column)
    assert told in fault.message


@given(st.text(alphabet="ab:-[]{}\"'&*!|>%@#?, \n\t", max_size=40))
def test_no_text_is_told_of_in_the_parsers_words(text: str) -> None:
    lines = text.count("\n") + 1
    for fault in parse(text).faults:
        assert 1 <= fault.place.line <= lines + 1
        assert not any(word in fault.message for word in JARGON)
