"""Detectors find the same in a text however it is cut; in prose only the last word is held back."""

import re
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from governance.guardrails.scanning import Span
from governance.guardrails.segments import DetectorScanner
from governance.sensitivity import KINDS, detect

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq1 plain words\nk9Xa/2\n-----END RSA PRIVATE KEY-----"
PLANTED = {
    "email": "ann.lee@example.org",
    "card": "4111 1111 1111 1111",
    "iban": "DE89 3704 0044 0532 0130 00",
    "secret": "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8",
    "private_key": KEY,
}


def find(text: str) -> list[Span]:
    return [Span(found.start, found.end, found.kind) for found in detect(text, KINDS)]


def scan(pieces: list[str]) -> tuple[list[Span], list[int]]:
    scanner, found, held, read, told = DetectorScanner(find, "private_key"), list[Span](), list[int](), 0, 0
    for piece in pieces:
        scanner.feed(piece)
        read += len(piece)
        spans, now = scanner.settle(ended=False)
        assert now >= told
        told = now
        found += spans
        held.append(read - told)
    spans, told = scanner.settle(ended=True)
    assert told == read
    return found + spans, held


words = st.sampled_from(
    [
        "hello",
        "it's",
        "well-known",
        "。你好",
        "Aa1",
        "end,",
        "12",
        "-----BEGIN",
        "x" * 5000,
        "password is",
        *PLANTED.values(),
    ]
)
texts = st.lists(st.tuples(words, st.sampled_from(["", " ", "  ", "\n"])), max_size=8).map(
    lambda parts: "".join(word + gap for word, gap in parts)
)


@settings(max_examples=60)
@given(text=texts, places=st.lists(st.integers(0, 20_000), max_size=10))
def test_any_cut_of_a_text_gives_what_the_whole_gives(text: str, places: list[int]) -> None:
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    pieces = [text[a:b] for a, b in pairwise(edges)]
    assert scan(pieces)[0] == scan([text])[0]


def test_it_finds_what_the_detectors_find_in_the_whole_text() -> None:
    for kind, value in PLANTED.items():
        text = f"Here it is, my friend: {value} and please keep it."
        found, _ = scan(list(text))
        assert [(span.kind, text[span.start : span.end]) for span in found] == [(kind, value)]


def test_of_prose_no_more_is_held_back_than_the_last_word() -> None:
    text = "It was the best of times, it was the worst of times. 你好吗 C'est la vie (always)."
    _, held = scan(list(text))
    for end in range(len(text)):
        last = re.search(r"\S*\s*\Z", text[: end + 1])
        assert last is not None
        assert held[end] <= len(last[0])


def test_of_a_key_that_is_cut_off_nothing_is_let_through() -> None:
    begun = KEY[: KEY.index("-----END")]
    found, held = scan(list(begun))
    assert (found[-1].kind, found[-1].end) == ("private_key", len(begun))
    assert found[0].start == 0
    assert held[-1] == len(begun)
