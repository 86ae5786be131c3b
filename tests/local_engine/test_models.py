import time
from pathlib import Path

import numpy as np
import pytest

from local_engine.config import EngineConfig
from local_engine.errors import ModelFileInvalid, ModelLoading, ModelNotFound
from local_engine.measure.machine import Machine
from local_engine.models import Models, load_text
from tests.support.engine_server import serving
from tests.support.tiny_gguf import tiny_tensors, write_tiny_gguf


def test_a_model_that_is_not_loaded_yet_says_so_and_an_unknown_one_does_not_exist() -> None:
    models = Models("text", "vectors", loaded_at=0)
    assert models.states == {"text": "loading", "vectors": "loading"}
    for asked in ("text", None):
        with pytest.raises(ModelLoading):
            models.text_model(asked)
    for asked in ("vectors", None):
        with pytest.raises(ModelLoading):
            models.embedding_model(asked)
    with pytest.raises(ModelNotFound):
        models.text_model("vectors")
    with pytest.raises(ModelNotFound):
        models.embedding_model("text")


def test_without_embeddings_there_is_no_such_model() -> None:
    models = Models("text", None, loaded_at=0)
    assert not models.has_embeddings
    with pytest.raises(ModelNotFound):
        models.embedding_model(None)


async def test_models_that_have_stopped_are_not_ready() -> None:
    async with serving() as models:
        assert models.status == "ok"
        await models.stop(0.0)
        assert models.states == {"tiny": "stalled", "tiny-embeddings": "stalled"}


def test_weights_that_are_no_numbers_are_refused_by_the_files_name(tmp_path: Path) -> None:
    tensors = tiny_tensors()
    norm, encoding = tensors["output_norm.weight"]
    tensors["output_norm.weight"] = (np.full_like(norm, np.nan), encoding)
    path = write_tiny_gguf(tmp_path / "nan.gguf", tensors=tensors)
    with pytest.raises(ModelFileInvalid, match="finite") as refused:
        load_text(EngineConfig(model_path=path, blocks=64), 1, Machine(time.monotonic), lambda: 1)
    assert refused.value.path == path
