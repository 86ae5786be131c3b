import numpy as np
import pytest

from router_models.features import features_of
from router_models.learning.ensemble import fit_stack
from router_models.learning.matrix_factorisation import fit_factorisation
from router_models.learning.prompts import Prompts
from router_models.learning.ridge import fit_ridge
from router_models.learning.similarity_ranking import find_prototypes, fit_ranking
from router_models.learning.terms import fit_terms

SIZE = 240


def made(seed: int = 0, words: str = "alpha beta gamma delta") -> tuple[Prompts, list[str]]:
    chance = np.random.default_rng(seed)
    texts = [" ".join(chance.choice(words.split(), 5)) + f" unique{seed}x{row}" for row in range(SIZE)]
    rows = chance.normal(size=(SIZE, 16))
    vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return Prompts.of(vectors, [features_of(text) for text in texts]), texts


def alike(one: np.ndarray[tuple[int], np.dtype[np.float32]], other: object) -> float:
    return float(np.corrcoef(one, np.asarray(other))[0, 1])


def test_some_of_the_prompts_are_those_asked_for() -> None:
    prompts, texts = made()
    some = prompts.taken(np.array([7, 3]))
    for row, place in enumerate((7, 3)):
        assert tuple(some.terms[some.starts[row] : some.starts[row + 1]]) == features_of(texts[place]).terms
    assert len(prompts.taken(np.zeros(SIZE, np.bool_))) == 0


def test_ridge_finds_what_is_in_the_vector_and_in_the_counts() -> None:
    prompts, _ = made()
    unseen, _ = made(1)
    gaps = prompts.vectors[:, 0] + prompts.rows[:, 0]
    assert alike(fit_ridge(prompts, gaps).predict(unseen), unseen.vectors[:, 0] + unseen.rows[:, 0]) > 0.9


def test_terms_find_a_word_and_know_nothing_of_words_met_once() -> None:
    prompts, texts = made()
    unseen, others = made(1)
    found = fit_terms(prompts, np.array(["alpha beta" in text for text in texts], np.float32))
    assert alike(found.predict(unseen), ["alpha beta" in text for text in others]) > 0.8
    nothing = Prompts.of(prompts.vectors[:1], [features_of("zeta eta theta iota")])
    assert found.predict(nothing) == pytest.approx(found.bias)


def test_terms_of_prompts_that_share_none_say_the_average() -> None:
    prompts = Prompts.of(np.eye(3, dtype=np.float32), [features_of(text) for text in ("one", "two", "three")])
    assert fit_terms(prompts, np.array([1, 0, 2], np.float32)).predict(prompts) == pytest.approx(1)


def test_ranking_says_what_won_nearby_and_the_average_far_away() -> None:
    chance = np.random.default_rng(0)
    middles = np.eye(16, dtype=np.float32)[:2]
    rows = middles[np.arange(SIZE) % 2] + 0.1 * chance.normal(size=(SIZE, 16)).astype(np.float32)
    vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    prompts = Prompts.of(vectors, [features_of("x")] * SIZE)
    gaps = np.where(np.arange(SIZE) % 2, 1, 0).astype(np.float32)
    for most in (8, 500):
        found = fit_ranking(find_prototypes(vectors, most, chance), prompts, gaps)
        near = Prompts.of(
            np.concatenate((middles, -middles[:1] - middles[1:])).astype(np.float32), [features_of("x")] * 3
        )
        assert found.predict(near) == pytest.approx([0, 1, 0.5], abs=0.1)


def test_factorisation_learns_a_pair_from_models_that_share_what_is_hard_and_fills_in_what_is_missing() -> None:
    prompts, _ = made()
    unseen, _ = made(1)
    hard = prompts.vectors[:, 0]
    scores = np.stack([0.5 - factor * hard for factor in (1.0, 0.8, 0.1)], axis=1).astype(np.float32)
    scores[::3, 0] = np.nan
    found = fit_factorisation(prompts, scores).between(0, 2).predict(unseen)
    assert alike(found, unseen.vectors[:, 0]) > 0.9


def test_a_stack_trusts_the_head_that_knows_and_no_head_less_than_nothing() -> None:
    chance = np.random.default_rng(0)
    gaps = chance.normal(size=2000).astype(np.float32)
    heads = np.stack([gaps + chance.normal(size=2000), chance.normal(size=2000), -gaps], axis=1).astype(np.float32)
    found = fit_stack(heads, gaps)
    assert found.weights[0] > 0.3
    assert found.weights[1] < 0.1
    assert found.weights[2] == 0
    assert found.of(heads).mean() == pytest.approx(gaps.mean(), abs=1e-4)
