"""The verifier that comes with the package, on questions it has not seen."""

from dataclasses import replace
from importlib.resources import files

import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("safetensors")

from cache.embedding.minilm.embedding import NAME
from cache.embedding.minilm.model import MiniLM
from cache.embedding.opening import bundled_folder
from cache.verifying.artifact import read_artifact
from cache.verifying.question import Marks, mark
from cache.verifying.verifier import Verifier, open_verifier

MODEL = MiniLM(bundled_folder() or pytest.skip("the bundled model is not installed", allow_module_level=True))
ARTIFACT = read_artifact(files("cache.verifying") / "weights" / "verifier.safetensors")


def probability(verifier: Verifier, a: str, b: str) -> float:
    ours, theirs = MODEL.read([a, b])
    stored, asked = verifier.question(a, verifier.mark(ours)), verifier.question(b, verifier.mark(theirs))
    return verifier.judge(asked, [(stored, float(ours.vector @ theirs.vector))])[0].probability


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    return open_verifier()


def test_it_was_trained_with_the_bundled_embedding(verifier: Verifier) -> None:
    assert verifier.embedding == NAME


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("How do I descale the coffee machine?", "how can i descale the coffee machine"),
        ("Where can I leave my bike?", "Hi, where can I leave my bike please?"),
        ("What is the deadline for the grant?", "What's the deadline for the grant?"),
    ],
)
def test_a_near_repeat_is_served(verifier: Verifier, a: str, b: str) -> None:
    assert probability(verifier, a, b) >= verifier.calibration.threshold(0.05)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("How do I descale the coffee machine?", "How do I descale the kettle?"),
        ("Where can I leave my bike?", "Where can I leave my pushchair?"),
        ("What is the deadline for the grant?", "What is the amount of the grant?"),
        ("Does the lodge have a sauna?", "Does the lodge have a kitchen?"),
    ],
)
def test_one_thing_for_another_is_not(verifier: Verifier, a: str, b: str) -> None:
    assert probability(verifier, a, b) < verifier.calibration.threshold(0.05)


def test_a_veto_counts_more_than_any_likeness(verifier: Verifier) -> None:
    assert probability(verifier, "Is parking free on Monday?", "Is parking free on Sunday?") == 0.0


def test_which_of_two_is_stored_makes_no_difference(verifier: Verifier) -> None:
    a, b = "Do you repair phones?", "Are phone repairs something you do?"
    assert probability(verifier, a, b) == pytest.approx(probability(verifier, b, a), abs=1e-5)


def test_many_at_once_are_judged_as_each_would_be_alone(verifier: Verifier) -> None:
    texts = [
        "Do you repair phones?",
        "Do you repair old phones?",
        "are phone repairs something you do",
        "Do you reapir phoens?",
        "Do you not repair phones?",
        "Who mends a bicycle that was bought elsewhere, and what does it cost to have the wheels trued?",
        "?",
        "",
        "日本語の質問",
    ]
    questions = [
        verifier.question(text, verifier.mark(read)) for text, read in zip(texts, MODEL.read(texts), strict=True)
    ]
    for asked in questions:
        stored = [(question, 0.1 * at) for at, question in enumerate(questions)]
        together = verifier.judge(asked, stored)
        alone = [verifier.judge(asked, [one])[0] for one in stored]
        assert [found.veto for found in together] == [found.veto for found in alone]
        assert [found.probability for found in together] == pytest.approx([one.probability for one in alone], abs=1e-5)


def test_a_smaller_error_asks_for_a_larger_probability(verifier: Verifier) -> None:
    thresholds = [verifier.calibration.threshold(error) for error in (0.2, 0.1, 0.05, 0.02, 0.01, 0.001, 0.0)]
    assert thresholds == sorted(thresholds)


def test_marks_are_small_and_come_back_as_they_were(verifier: Verifier) -> None:
    (read,) = MODEL.read(["How long does a visa for a stay of ninety days take?"])
    packed = verifier.mark(read)
    assert len(packed) < 1_200
    unstamped = mark(read, ARTIFACT.centre, ARTIFACT.axes).packed()
    assert packed.endswith(unstamped)
    assert Marks.unpacked(unstamped).packed() == unstamped


def test_marks_on_other_axes_are_not_known(verifier: Verifier) -> None:
    (read,) = MODEL.read(["How do I pay?"])
    other = Verifier(replace(ARTIFACT, axes=-ARTIFACT.axes))
    assert verifier.knows(verifier.mark(read))
    assert not verifier.knows(other.mark(read))
    assert not verifier.knows(b"")


@pytest.mark.parametrize("text", ["", "?", "日本語の質問", "a", "🙂 🙂", "x" * 5_000])
def test_any_text_can_be_judged(verifier: Verifier, text: str) -> None:
    assert 0 <= probability(verifier, text, "How do I pay?") <= 1
    assert 0 <= probability(verifier, text, text) <= 1
