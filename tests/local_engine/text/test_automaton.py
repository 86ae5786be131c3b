import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_engine.text.automaton import Automaton

LETTERS = "ab"
PATTERNS = st.lists(st.text(LETTERS, min_size=1, max_size=5), max_size=5)


@given(patterns=PATTERNS, text=st.text(LETTERS, max_size=40))
def test_each_state_is_the_longest_suffix_that_begins_a_pattern(patterns: list[str], text: str) -> None:
    automaton = Automaton(patterns)
    beginnings = {pattern[:n] for pattern in patterns for n in range(len(pattern) + 1)} | {""}
    state = 0
    for end, char in enumerate(text, start=1):
        state = automaton.step(state, char)
        seen = text[:end]
        assert automaton.depth[state] == max(len(b) for b in beginnings if seen.endswith(b))
        assert automaton.match[state] == max((p for p in patterns if seen.endswith(p)), key=len, default=None)


def test_an_empty_pattern_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        Automaton(["a", ""])
