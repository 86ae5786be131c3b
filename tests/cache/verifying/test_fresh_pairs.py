"""How the verifier does on questions that nothing was made for: neither guards nor weights nor thresholds.

The two hundred pairs of `fresh.jsonl` were written and committed before anything was run on them, half of them the same
question in other words, half traps of negation, number, entity and scope. Put through `sluice cache evaluate --pairs`
once, 38.0 % of the same were served with at most 1 % of the traps (95 % interval 29.1 to 47.8 %), and 79.0 % with at
most 5 % (70.0 to 85.8 %); by cosine alone 15.0 % and 31.0 %. Without the detectors both figures are what they are with
them. At the threshold that the card gives for 1 %, 56 % of the same were served and 2 of 100 traps (0.6 to 7.0 %),
without detectors 3; at that for 5 %, 75 % and 4, without detectors 5. When the embedding came to be computed in bytes,
the verifier was learned anew from the same data and put through them again: 37.0 % (28.2 to 46.8 %) and 81.0 % (72.2 to
87.5 %), by cosine alone 12.0 % and 31.0 %; at its thresholds 56 % with 2 traps, and 68 % with 4. Between the two, the
old trees were put through them with the new embedding: 37 % and 75 %. Nothing was changed after that to make these
figures better, and the test asks for less than was found, so that it fails only when the verifier is made worse.
"""

from pathlib import Path

import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("safetensors")

from cache.detecting.unfit import unfit
from cache.embedding.batching import Limits
from cache.embedding.minilm.embedding import MiniLMEmbedding
from cache.embedding.opening import bundled_folder
from cache.evaluating.deciding import decide
from cache.evaluating.labelled import read_pairs
from cache.evaluating.report import curve, rates
from cache.verifying.verifier import open_verifier

FOLDER = bundled_folder() or pytest.skip("the bundled model is not installed", allow_module_level=True)
PAIRS = read_pairs(Path(__file__).parent / "fresh.jsonl")
LOW_AT_5, LOW_AT_1 = 0.70, 0.29
"""The lower ends of the intervals."""
HIGH_TRAPS = 0.10
"""The upper end of what the threshold for 5 % let through."""


def test_there_are_as_many_traps_of_each_kind_and_as_many_of_the_same() -> None:
    kinds = [pair.kind for pair in PAIRS]
    assert sum(pair.same for pair in PAIRS) == 100
    assert {kinds.count(kind) for kind in ("negation", "number_date", "entity_swap", "scope")} == {25}


@pytest.mark.parametrize("detects", [True, False])
async def test_it_serves_what_it_was_measured_to_serve(detects: bool) -> None:
    embedding = await MiniLMEmbedding.open(FOLDER, limits=Limits(patience_s=60.0))
    verifier = open_verifier()
    try:
        decided = await decide(
            PAIRS, embedding, verifier, lambda text: not detects or unfit(text) is None, lambda _: None
        )
    finally:
        await embedding.close()
    scored = [(one.score, one.pair.same) for one in decided]
    recall_at = curve(scored).recall_at
    assert recall_at[0.05].value >= LOW_AT_5
    assert recall_at[0.01].value >= LOW_AT_1
    assert rates(scored, verifier.calibration.threshold(0.05)).trap_rate.value <= HIGH_TRAPS
