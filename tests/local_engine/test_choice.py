from hypothesis import given
from hypothesis import strategies as st

from local_engine.choice import ChoiceText, choice_params
from local_engine.types import SamplingParams


def test_a_character_that_is_cut_where_stops_begin_to_count_stays_whole() -> None:
    text = ChoiceText(("é!",), include_stop=False)
    first, second = "é".encode()[:1], "é".encode()[1:]
    assert text.feed(first, watch=False) == ("", None)
    assert text.feed(second, watch=True) == ("", None), "held back: it may become the stop text"
    assert text.feed(b"!", watch=True) == ("", "é!")


def test_a_stop_text_before_stops_count_is_text() -> None:
    text = ChoiceText(("ab",), include_stop=False)
    assert text.feed(b"ab", watch=False) == ("ab", None)
    assert text.feed(b"xab", watch=True) == ("x", "ab")


def test_an_unfinished_character_is_replaced_at_the_end() -> None:
    for watch in (False, True):
        text = ChoiceText((), include_stop=False)
        assert text.feed("é".encode()[:1], watch=watch) == ("", None)
        assert text.flush() == "\ufffd"


@given(st.text(max_size=20), st.integers(0, 40))
def test_text_is_the_same_wherever_stops_begin_to_count(written: str, begin: int) -> None:
    text = ChoiceText((), include_stop=False)
    parts = [text.feed(bytes([byte]), watch=index >= begin)[0] for index, byte in enumerate(written.encode())]
    assert "".join(parts) + text.flush() == written


@given(st.integers(-(2**63), 2**63 - 1))
def test_choices_have_seeds_of_their_own_and_the_first_keeps_its(seed: int) -> None:
    params = SamplingParams(max_tokens=1, seed=seed)
    seeds = [choice_params(params, index).seed for index in range(8)]
    assert seeds[0] == seed
    assert len(set(seeds)) == 8
    assert seeds == [choice_params(params, index).seed for index in range(8)]
