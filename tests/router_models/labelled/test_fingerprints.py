import random

import numpy as np

from router_models.features import features_of
from router_models.labelled.fingerprints import Fingerprints

LONG = " ".join(random.Random(1).choices([f"word{number}" for number in range(60)], k=80))


def prints(*texts: str) -> Fingerprints:
    return Fingerprints.of(texts, [features_of(text).terms for text in texts])


def test_a_text_is_the_same_whatever_its_case_spacing_and_punctuation() -> None:
    same, near = prints("What is  the Capital of France?").seen(prints("what is the capital of france", "Other words"))
    assert same.all()
    assert near.all()


def test_a_text_with_a_few_other_words_is_nearly_the_same() -> None:
    words = LONG.split()
    words[40:42] = ["entirely", "new"]
    same, near = prints(" ".join(words)).seen(prints(LONG))
    assert not same.any()
    assert near.all()


def test_texts_of_other_words_are_neither() -> None:
    found = prints("How tall is the Eiffel tower?", "", "!?").seen(prints("Write a poem about autumn leaves", "…"))
    assert not found[0].any()
    assert not found[1].any()


def test_of_repeated_texts_the_first_is_kept() -> None:
    assert prints("One thing", "another matter", "one thing!", LONG, LONG + " end").first().tolist() == [
        True, True, False, True, False,
    ]  # fmt: skip


def test_texts_unlike_each_other_are_hardly_ever_taken_for_each_other() -> None:
    chance = random.Random(2)
    words = [f"w{number}" for number in range(400)]
    texts = [" ".join(chance.choices(words, k=40)) for _ in range(400)]
    assert prints(*texts).first().mean() > 0.99
    assert not np.any(prints(*texts[:200]).seen(prints(*texts[200:]))[1])
