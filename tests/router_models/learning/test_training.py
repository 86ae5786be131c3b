from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from router_models.artifact import open_scorer, require_embedding, write_artifact
from router_models.errors import ArtifactUnusable, TooFewExamples
from router_models.evaluating.report import report, unseen
from router_models.features import PromptFeatures, features_of
from router_models.labelled.lines import Example, Pair
from router_models.learned import LearnedRouter
from router_models.learning.training import train

PAIR = Pair("weak", "strong")
_FIRST = ("An", "Bo", "Cle", "Da", "Eve", "Fi", "Gu", "Ha")
_LAST = ("ba", "ko", "lin", "mos", "nat", "pe", "rus", "ta")
Floats = np.ndarray[tuple[int, int], np.dtype[np.float32]]


def made(size: int, seed: int) -> tuple[list[Example], Floats, list[PromptFeatures]]:
    """Sums are hard for the weak model, greetings are not; some of each go the other way."""
    chance = np.random.default_rng(seed)
    examples, rows = list[Example](), list[list[float]]()
    for number in range(size):
        hard = bool(chance.random() < 0.5)
        a, b = chance.integers(10, 9999, 2)
        names = " ".join(f"{chance.choice(_FIRST)}{chance.choice(_LAST)}" for _ in range(9))
        text = f"What is {a} times {b}, {names}?" if hard else f"Please greet {names} for me, it is {a}{seed}{number}"
        failed = hard != (chance.random() < 0.15)
        examples.append(Example(text, 1, {"weak": 1.0 - failed, "strong": 1.0}))
        rows.append([1.0 if hard else 0.0, 1.0, *(0.2 * chance.normal(size=6))])
    vectors = np.array(rows)
    return (
        examples,
        (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32),
        [features_of(one.text) for one in examples],
    )


@pytest.fixture(scope="module")
def router() -> LearnedRouter:
    return train(*made(300, 0), [PAIR], embedding="tiny")


def test_a_router_learns_which_prompts_need_the_strong_model(router: LearnedRouter) -> None:
    examples, vectors, features = made(200, 1)
    found = report(router, unseen(router, examples, vectors, features, PAIR), draws=40)
    assert found.router.apgr.low > 0.6
    assert found.router.apgr.value > found.baselines["random"].apgr.value
    assert found.baselines["oracle"].apgr.value >= found.router.apgr.value
    assert found.calibration_error < 0.12
    hard, easy = (
        router.score(vectors[row], features[row]) for row in (_first(examples, "times"), _first(examples, "gr"))
    )
    assert hard.need > 0.6
    assert easy.need < 0.4


def test_a_vector_from_elsewhere_is_out_of_distribution(router: LearnedRouter) -> None:
    strange = np.zeros(8, np.float32)
    strange[0] = -1
    found = router.score(strange, features_of("Wat?"))
    assert not found.in_distribution
    assert found.known < 0.02


def test_prompts_that_it_has_learned_from_are_left_out_of_its_measure(router: LearnedRouter) -> None:
    old, new = made(300, 0), made(100, 1)
    found = unseen(
        router, [*old[0][:50], *new[0]], np.concatenate((old[1][:50], new[1])), [*old[2][:50], *new[2]], PAIR
    )
    assert found.same >= 49
    assert len(found.prompts) <= 100
    with pytest.raises(TooFewExamples):
        unseen(router, *old, PAIR)


def test_a_router_is_the_same_after_it_was_written_and_the_same_bytes_each_time(
    router: LearnedRouter, tmp_path: Path
) -> None:
    write_artifact(tmp_path / "a", router)
    write_artifact(tmp_path / "b", train(*made(300, 0), [PAIR], embedding="tiny"))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    again = open_scorer(tmp_path / "a")
    _, vectors, features = made(30, 2)
    for vector, counted in zip(vectors, features, strict=True):
        assert again.score(vector, counted).need == pytest.approx(router.score(vector, counted).need, abs=0.03)
    assert again.card == router.card
    require_embedding(again, "tiny")
    with pytest.raises(ArtifactUnusable, match="train it again"):
        require_embedding(again, "other")


def test_a_damaged_or_missing_artifact_or_one_of_other_features_says_so(router: LearnedRouter, tmp_path: Path) -> None:
    (tmp_path / "damaged").write_bytes(b"not numbers")
    write_artifact(tmp_path / "old", replace(router, card=replace(router.card, features=("length",))))
    for name, why in (("damaged", "cannot be used"), ("missing", "No such file"), ("old", "other features")):
        with pytest.raises(ArtifactUnusable, match=why):
            open_scorer(tmp_path / name)


def test_too_few_prompts_or_models_that_never_differ_teach_nothing() -> None:
    examples, vectors, features = made(60, 0)
    with pytest.raises(TooFewExamples):
        train(examples[:20], vectors[:20], features[:20], [PAIR], embedding="tiny")
    equal = [replace(one, outcomes={"weak": 1.0, "strong": 1.0}) for one in examples]
    with pytest.raises(TooFewExamples):
        train(equal, vectors, features, [PAIR], embedding="tiny")


def test_the_router_that_comes_with_the_package_opens_and_knows_a_sum_from_a_joke() -> None:
    found = open_scorer()
    assert found.card.prompts > 10_000
    assert found.card.metrics["apgr"] > 0.65
    vector = found.heads.ranking.prototypes[0]
    assert 0 <= found.score(vector, features_of("How many?")).need <= 1


def _first(examples: list[Example], word: str) -> int:
    return next(row for row, one in enumerate(examples) if word in one.text and one.outcomes["weak"] == (word == "gr"))
