"""A pattern finds the same in a text however it is cut, and holds back no more than may yet become a match."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.guardrails.patterns.scanning import PatternScanner
from governance.guardrails.scanning import Span
from governance.policy.patterns import parse_pattern

PATTERNS = (
    r"(?i)project\s+nightjar", r"\d{3,5}\b", r"a+b", r"a.{0,5}b", r"ab(?=c)", r"ab(?!c)", r"(?<=x)ab", r"^ab", r"ab$",
    r"(?m)ab$", r"a*b?c", r"(a|ab)(c|bcd)", r"(\w)\1", r"[^a-c]+x", r"a++b", r"(?>ab|a)c", r"\bcab\b", r"a.*b",
    r"(?:ab){2,}", r"(?i:K)b", r"a??b", r"(a)?(?(1)b|c)", "(?i)\u017f1", r"[^\W\d]1", r"(?a)\w\s",
)  # fmt: skip


def scan(pattern: str, pieces: list[str]) -> tuple[list[Span], list[int]]:
    """Return what is found, and how many characters are held back after each piece."""
    scanner, found, held, read, told = PatternScanner(parse_pattern(pattern), "it"), list[Span](), list[int](), 0, 0
    for piece in pieces:
        scanner.feed(piece)
        read += len(piece)
        spans, now = scanner.settle(ended=False)
        assert now >= told
        assert all(told <= span.start for span in spans), "nothing is found where nothing more should be"
        told = now
        found += spans
        held.append(read - told)
    spans, told = scanner.settle(ended=True)
    assert told == read
    return found + spans, held


def cut(text: str, places: list[int]) -> list[str]:
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[a:b] for a, b in pairwise(edges)]


@given(
    pattern=st.sampled_from(PATTERNS),
    text=st.text("abcxABkKs\u017f1 \nproject nightjar", max_size=60) | st.text("ab", min_size=250, max_size=600),
    places=st.lists(st.integers(0, 700), max_size=12),
)
def test_any_cut_of_a_text_gives_what_the_whole_gives(pattern: str, text: str, places: list[int]) -> None:
    assert scan(pattern, cut(text, places))[0] == scan(pattern, [text])[0]


@pytest.mark.parametrize(
    ("pattern", "text", "held"),
    [
        (r"(?i)project\s+nightjar", "The project plan", [0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0, 0, 0]),
        (r"(?i)project\s+nightjar", "propro", [1, 2, 3, 1, 2, 3]),
        (r"abc", "abcab", [1, 2, 0, 1, 2]),
        (r"\d{3}", "1234", [1, 2, 0, 1]),
        (r"ab(?!c)", "abab", [1, 2, 1, 2]),
        (r"colou?r\b", "a colour.", [0, 0, 1, 2, 3, 4, 5, 6, 0]),
    ],
)
def test_it_holds_back_the_shortest_end_that_may_become_a_match(pattern: str, text: str, held: list[int]) -> None:
    assert scan(pattern, list(text))[1] == held


def test_a_match_reads_no_further_than_the_bound_of_patterns() -> None:
    found, held = scan(r"a.*", ["a" + "x" * 1000])
    assert (found[0], held[0] < 256) == (Span(0, 256, "it"), True)


def test_what_goes_on_after_its_end_is_read_with_the_end_of_what_came_before() -> None:
    scanner = PatternScanner(parse_pattern("secret"), "it")
    scanner.feed("my sec")
    assert scanner.settle(ended=False) == ([], 3)
    assert scanner.settle(ended=True) == ([], 6)
    scanner.feed("ret it")
    assert scanner.settle(ended=False) == ([Span(6, 9, "it")], 12)
