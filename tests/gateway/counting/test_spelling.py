"""What a text is made of, as far as a tokenizer's work depends on it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.counting.spelling import MEASURES, spelling


def spelt(text: str) -> dict[str, int]:
    found = dict(zip(MEASURES, spelling(text.encode()), strict=True))
    return {name: count for name, count in found.items() if count}


@pytest.mark.parametrize(
    ("text", "measures"),
    [
        ("", {}),
        ("Hello, new world", {"words": 3, "letters": 13, "capitals": 1, "marks": 1}),
        ("13 of 2026", {"words": 1, "letters": 2, "digits": 6, "digit_pairs": 3}),
        ("a\n  b", {"words": 2, "letters": 2, "breaks": 1, "indents": 1}),
        ("f(x) == {}", {"words": 2, "letters": 2, "marks": 6, "mark_pairs": 2}),
        ("größer", {"words": 2, "letters": 4, "latin": 2}),
        ("мир", {"alphabets": 3}),
        ("λόγος", {"greek": 5}),
        ("שלום مرحبا", {"semitic": 9}),
        ("日本語のテキスト", {"ideographs": 8}),
        ("한국어", {"hangul": 3}),
        ("ไทย — हिन्दी", {"syllabics": 10}),
        ("🙂", {"rare": 1}),
    ],
)
def test_a_text_is_measured_by_what_tokenizers_cut_it_at(text: str, measures: dict[str, int]) -> None:
    assert spelt(text) == measures


@given(st.binary(), st.binary())
def test_no_measure_falls_when_bytes_are_added_at_the_end(text: bytes, more: bytes) -> None:
    shorter, longer = spelling(text), spelling(text + more)

    assert all(0 <= before <= after for before, after in zip(shorter, longer, strict=True))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_no_measure_is_more_than_the_bytes(text: str) -> None:
    assert max(spelling(text.encode())) <= len(text.encode())
