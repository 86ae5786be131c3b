import math

from hypothesis import given
from hypothesis import strategies as st

from router_models.features import NAMES, features_of


def test_what_is_counted_is_what_the_text_shows() -> None:
    found = features_of("How many of the 12 apples are not red?\nA. 3\nB. 1,200\nC. none", turns=3, tools=1)
    assert found.options == math.log1p(3)
    assert found.option_numbers == 2 / 3
    assert found.numbers == math.log1p(3)
    assert found.largest_number == math.log1p(math.log1p(1200))
    assert found.negations == math.log1p(2)
    assert found.how_many == math.log1p(1)
    assert found.lines == math.log1p(3)
    assert found.turns == math.log1p(3)
    assert found.tools == math.log1p(1)


def test_code_and_other_alphabets_show() -> None:
    assert features_of("def f(x):\n  return x").code > 0
    assert features_of("Πού είναι η πόλη;").foreign > 0.5
    assert features_of("déjà vu").accents > 0
    assert features_of("plain words").code == features_of("plain words").foreign == 0


def test_texts_of_the_same_words_in_another_order_share_words_and_not_triples() -> None:
    one, other = features_of("red green blue").terms, features_of("blue red green").terms
    assert len(set(one) & set(other)) == 4  # three words and the pair "red green"


def test_only_the_length_of_what_comes_late_counts() -> None:
    early = "word " * 600
    assert set(features_of(early + "and 1 more").terms) == set(features_of(early + "or 2 less").terms)
    assert features_of(early + "a" * 500).characters > features_of(early).characters


@given(st.text())
def test_any_text_has_features_that_are_finite(text: str) -> None:
    found = features_of(text)
    assert len(found.row()) == len(NAMES)
    assert all(math.isfinite(value) for value in found.row())
    assert len(found.terms) == len(set(found.terms))
