"""Holding a question beside many others at once finds what one word after the other finds."""

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("safetensors")

from cache.embedding.minilm.model import MiniLM
from cache.embedding.opening import bundled_folder
from cache.verifying.alignment import STRANGE, align
from cache.verifying.question import Question
from cache.verifying.verifier import open_verifier

MODEL = MiniLM(bundled_folder() or pytest.skip("the bundled model is not installed", allow_module_level=True))
TEXTS = (
    "How do I descale the coffee machine?",
    "How do I descale the kettle in the staff kitchen upstairs?",
    "Removing limescale from a coffee maker",
    "Wine?",
    "?",
    "",
)


def plain(a: Question, b: Question) -> dict[str, float]:
    """What `b` lacks of `a`, by loops."""
    lacking = [row for row, stem in enumerate(a.stems) if stem not in b.all_stems]
    closest = {row: max([0.0, *(a.meanings[row] @ b.meanings.T)]) for row in lacking}
    used = {row: max([0.0, *(a.uses[row] @ b.uses.T)]) for row in lacking}
    nearest = [max([-1.0, *(token @ b.tokens.T)]) for token in a.tokens] if len(b.tokens) else []
    total = float(a.weights.sum())
    weight = float(sum(a.weights[row] for row in lacking))
    return {
        "lacking": len(lacking),
        "lacking_weight": weight,
        "covered": (total - weight) / total if total else 1.0,
        "meaning": min([1.0, *closest.values()]),
        "meaning_gap": sum(a.weights[row] * (1 - closest[row]) for row in lacking),
        "use": min([1.0, *used.values()]),
        "use_gap": sum(a.weights[row] * (1 - used[row]) for row in lacking),
        "strange": sum(a.weights[row] for row in lacking if closest[row] < STRANGE),
        "unknown": sum(not a.known[row] for row in lacking),
        "tokens": float(np.mean(nearest)) if nearest else 0.0,
        "weakest": min(nearest) if nearest else 0.0,
    }


@pytest.mark.parametrize("at", range(len(TEXTS)))
def test_it_is_what_loops_over_the_words_find(at: int) -> None:
    verifier = open_verifier()
    questions = [
        verifier.question(text, verifier.mark(read)) for text, read in zip(TEXTS, MODEL.read(TEXTS), strict=True)
    ]
    one = questions[at]
    found = align(one, questions)
    for place, other in enumerate(questions):
        for side, expected in ((found.ours, plain(one, other)), (found.theirs, plain(other, one))):
            measured = {name: float(getattr(side, name)[place]) for name in expected}
            assert measured == pytest.approx(expected, abs=1e-5)
