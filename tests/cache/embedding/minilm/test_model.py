"""all-MiniLM-L6-v2 through onnxruntime."""

import numpy as np
import pytest

from cache.embedding.minilm.model import READS_TOKENS, MiniLM
from cache.embedding.opening import bundled_folder

TEXTS = [
    "Where is my card?",
    "",
    " ",
    "I have been waiting over a week. Is the card still coming? " * 9,
    "ÄÖÜ, Grüße, 你好 世界, שלום, 👩‍👩‍👧‍👦 \x00 \u202e",
    "half a pair: \ud800",
    "word " * 20_000,
    "x" * 100_000,
]


@pytest.fixture(scope="module")
def model() -> MiniLM:
    folder = bundled_folder()
    assert folder is not None
    return MiniLM(folder)


def test_a_vector_is_of_unit_length_whatever_the_text(model: MiniLM) -> None:
    vectors = model.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_a_vector_does_not_depend_on_the_texts_beside_it(model: MiniLM) -> None:
    alone = np.concatenate([model.embed([text]) for text in TEXTS])
    np.testing.assert_allclose(model.embed(TEXTS), alone, atol=1e-6)
    np.testing.assert_allclose(model.embed(TEXTS[::-1] * 3)[: len(TEXTS)], alone[::-1], atol=1e-6)


def test_closer_in_meaning_is_closer_in_space(model: MiniLM) -> None:
    card, same, other = model.embed(["Where is my card?", "My card has not arrived.", "How tall is the Eiffel Tower?"])
    assert card @ same > 0.6
    assert card @ other < 0.2


def test_a_reading_shows_the_tokens_their_places_and_states(model: MiniLM) -> None:
    text = "Hello wörld"
    (reading,) = model.read([text])
    assert reading.states.shape == (len(reading.ids), 384)
    assert [text[start:end] for start, end in reading.offsets.tolist()] == ["", "Hello", "wörld", ""]
    mean = reading.states.mean(axis=0)
    np.testing.assert_allclose(reading.vector, mean / np.linalg.norm(mean))
    assert not reading.is_cut


def test_a_text_longer_than_the_model_reads_is_cut_and_says_so(model: MiniLM) -> None:
    whole, cut, endless = model.read(["word " * (READS_TOKENS - 2), "word " * READS_TOKENS, " " * 30_000 + "word"])
    assert (whole.is_cut, cut.is_cut, endless.is_cut) == (False, True, True)
    assert len(cut.ids) == READS_TOKENS
