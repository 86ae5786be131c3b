"""One value of a policy's text is replaced, and every other character stays, or nothing is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.policy.change.rewriting import CannotEdit, flow, rewritten
from gateway.policy.positions import parse

FLOW = "# ours\na: 1  # one\nb: {c: [x, y], d: 7d}\ne: 'z'  # last\n"
BLOCK = "# ours\na: 1  # one\nb:\n  c:\n    - x\n    - y\n\n  # how long\n  d: 7d\ne: 'z'  # last\n"


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (FLOW, "[x, y]", "[x, w]"),
        (BLOCK, "c:\n    - x\n    - y\n", "c:\n    [x, w]\n"),
        ("b: {c: []}\n", "[]", "[x, w]"),
        ("b:\n  c: x\n", "c: x", "c: [x, w]"),
        ("b:\n  c:\n", "c:\n", "c: [x, w]\n"),
        ("# ours\nb: {d: 7d}  # one\n", "{d", "{c: [x, w], d"),
        ("b:  # one\n  # how long\n  d: 7d\n", "  d: 7d", "  c: [x, w]\n  d: 7d"),
    ],
    ids=["flow", "block", "empty", "a word", "nothing", "new in flow", "new in block"],
)
def test_only_the_value_changes(text: str, old: str, new: str, ending: str, mark: str) -> None:
    before = (mark + text).replace("\n", ending)
    after = (mark + text.replace(old, new)).replace("\n", ending)
    assert rewritten(before, ("b", "c"), ["x", "w"], "b.c") == after


def test_a_whole_section_is_replaced_with_what_it_holds() -> None:
    edited = rewritten(FLOW, ("b",), {"c": ["x"], "d": "7d", "f": None, "g": True}, "b")
    assert edited == FLOW.replace("{c: [x, y], d: 7d}", "{c: [x], d: 7d, f: null, g: True}")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("b:\n  c:\n    - x  # the first\n    - y\n", "b.c has comments in it"),
        ("a: &shared [x]\nb: {c: *shared}\n", "b.c is shared with other parts"),
        ("b: {c: &shared [x]}\na: *shared\n", "b.c is shared with other parts"),
    ],
)
def test_what_would_break_something_else_is_refused(text: str, why: str) -> None:
    with pytest.raises(CannotEdit, match=why):
        rewritten(text, ("b", "c"), ["w"], "b.c")


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12)))
def test_a_text_is_read_as_it_was_written_unless_it_spells_a_number(texts: list[str]) -> None:
    parsed = parse(f"value: {flow(texts)}\n")
    assert parsed.faults == []
    assert isinstance(parsed.data, dict)
    for text, read in zip(texts, parsed.data["value"], strict=True):
        assert read == text if isinstance(read, str) else str(read) and not isinstance(read, bool)


@pytest.mark.parametrize(
    ("text", "written"),
    [("app/faq", "app/faq"), ("7d", "7d"), ("0.000000001", "0.000000001"), ("a: b", '"a: b"'), ("true", '"true"'),
     ("a # b", '"a # b"'), ("a, b", '"a, b"'), ("null", '"null"'), ("", '""'), ("]", '"]"')],
)  # fmt: skip
def test_quotes_stand_where_they_must(text: str, written: str) -> None:
    assert flow(text) == written
