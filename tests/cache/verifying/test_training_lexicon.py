"""The lexicon is fitted from how words are related, and the same input gives the same lexicon."""

import random
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("safetensors")

from cache.verifying.artifact import read_lexicon
from cache.verifying.lexicon import Lexicon
from cache.verifying.training.counter_fitting import counter_fit
from cache.verifying.training.wordnet import read_relations

ENTRIES = """
warm: {a: {sense: [{id: warm-1, synset: 1-a, antonym: [cold-1]}]}}
Cold: {a: {sense: [{id: cold-1, synset: 2-a, antonym: [warm-1]}]}}
chilly: {a: {sense: [{id: chilly-1, synset: 2-a}]}}
dog: {n: {sense: [{id: dog-1, synset: 3-n}]}}
cat: {n: {sense: [{id: cat-1, synset: 4-n}]}}
unheard: {n: {sense: [{id: unheard-1, synset: 4-n}]}}
"""
SYNSETS = """
3-n: {members: [dog], hypernym: [5-n]}
4-n: {members: [cat, unheard], hypernym: [5-n]}
5-n: {members: [animal]}
"""
WORDS = ("cat", "chilly", "cold", "dog", "warm")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "entries-a.yaml").write_text(ENTRIES)
    (tmp_path / "noun.animal.yaml").write_text(SYNSETS)
    (tmp_path / "frames.yaml").write_text("via: ----s something")
    return tmp_path


def test_words_are_related_as_the_wordnet_says(folder: Path) -> None:
    found = read_relations(folder, WORDS, random.Random(0))
    named = [[(WORDS[a], WORDS[b]) for a, b in pairs] for pairs in (found.synonyms, found.antonyms, found.sisters)]
    assert named == [[("chilly", "cold")], [("cold", "warm")], [("cat", "dog")]]


def fitted(seed: int = 0) -> np.ndarray:
    begin = np.random.default_rng(7).normal(size=(40, 12)).astype(np.float32)
    alike, sisters, antonyms = np.arange(36).reshape(3, 6, 2)
    return counter_fit(begin, alike, sisters, antonyms, 8, np.random.default_rng(seed), steps=200)


def test_words_that_mean_the_same_come_together_and_others_part() -> None:
    vectors = fitted()
    alike, sisters, antonyms = (vectors[0:36:2] * vectors[1:36:2]).sum(axis=1).reshape(3, 6)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(40), abs=1e-5)
    assert alike.min() > 0.6
    assert max(sisters.max(), antonyms.max()) < 0.4


def test_the_same_input_gives_the_same_vectors() -> None:
    assert fitted().tobytes() == fitted().tobytes()
    assert fitted(1).tobytes() != fitted().tobytes()


def cosine(lexicon: Lexicon, one: str, other: str) -> float:
    vectors, _ = lexicon.look_up([lexicon.row(one), lexicon.row(other)])
    return float(vectors[0] @ vectors[1])


@pytest.mark.parametrize(("word", "synonym", "contrary"), [("buy", "purchase", "sell"), ("begin", "start", "end")])
def test_in_what_comes_with_the_package_contraries_are_no_neighbours(word: str, synonym: str, contrary: str) -> None:
    lexicon = read_lexicon()
    assert cosine(lexicon, word, synonym) > 0.6
    assert cosine(lexicon, word, contrary) < 0
