from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from local_engine.errors import ModelFileInvalid
from local_engine.load.model_file import open_model
from local_engine.model.reference import ReferenceModel
from local_engine.model.runner import PagedRunner
from local_engine.quant.weight import Dense, Grouped
from local_engine.types import Numerics
from tests.support.tiny_gguf import F32, tiny_tensors, write_tiny_gguf
from tests.support.tiny_model import TINY_SPEC, whole_prompt
from tests.support.tiny_text import TINY_TEMPLATE, tiny_vocabulary


def test_a_file_gives_its_spec_vocabulary_and_template(tmp_path: Path) -> None:
    file, expected = open_model(write_tiny_gguf(tmp_path / "tiny.gguf")), tiny_vocabulary()
    assert file.spec.norm_epsilon == pytest.approx(TINY_SPEC.norm_epsilon)
    assert (file.spec.layers, file.spec.hidden, file.spec.head_dim) == (2, 64, 32)
    assert (file.vocabulary.tokens, file.vocabulary.merges) == (expected.tokens, expected.merges)
    assert (file.vocabulary.bos, file.vocabulary.eos, file.vocabulary.adds_bos) == (1, (2, 0), False)
    assert (file.chat_template, file.name) == (TINY_TEMPLATE, "tiny")


def test_weights_keep_the_encoding_they_were_stored_in(tmp_path: Path) -> None:
    weights = open_model(write_tiny_gguf(tmp_path / "tiny.gguf")).read_weights()
    assert isinstance(weights.layers[0].query, Grouped)
    assert isinstance(weights.layers[0].value, Dense)
    assert isinstance(weights.embedding, Grouped)
    assert weights.embedding.bits == 8


def test_a_file_without_a_head_ties_it_to_the_embedding(tmp_path: Path) -> None:
    tensors = tiny_tensors()
    del tensors["output.weight"]
    weights = open_model(write_tiny_gguf(tmp_path / "tied.gguf", tensors=tensors)).read_weights()
    assert weights.head is weights.embedding


def test_attention_scores_are_those_of_interleaved_rotation_over_the_rows_as_stored(tmp_path: Path) -> None:
    """The file's rows pair (0, 1), (2, 3), …; put in half-split order they must give the same scores."""
    tensors = tiny_tensors()
    weights = open_model(write_tiny_gguf(tmp_path / "tiny.gguf", tensors=tensors)).read_weights()
    stored = {name: torch.from_numpy(_round_trip(values, kind)) for name, (values, kind) in tensors.items()}
    x = torch.randn(5, TINY_SPEC.hidden)
    positions = torch.arange(5, dtype=torch.float64)
    turn = torch.outer(positions, TINY_SPEC.rope_base ** (-torch.arange(16, dtype=torch.float64) / 16))
    rotation = torch.polar(torch.ones_like(turn), turn)

    def interleaved(w: torch.Tensor) -> torch.Tensor:
        pairs = torch.view_as_complex((x.double() @ w.double().T).view(5, -1, 16, 2))
        return torch.view_as_real(pairs * rotation[:, None]).flatten(2)

    def half_split(w: torch.Tensor) -> torch.Tensor:
        rows = (x.double() @ w.double().T).view(5, -1, 32)
        pairs = torch.complex(rows[..., :16], rows[..., 16:]) * rotation[:, None]
        return torch.cat((pairs.real, pairs.imag), dim=-1)

    q_file, k_file = (interleaved(stored[f"blk.1.attn_{name}.weight"]) for name in "qk")
    layer = weights.layers[1]
    q_ours, k_ours = half_split(layer.query.dequantised()), half_split(layer.key.dequantised())
    expected = torch.einsum("ihd,jd->hij", q_file, k_file[:, 0])
    torch.testing.assert_close(torch.einsum("ihd,jd->hij", q_ours, k_ours[:, 0]), expected)


def _round_trip(values: np.ndarray, kind: Any) -> np.ndarray:
    import gguf  # noqa: PLC0415  # the reference quantiser, for this one test

    return gguf.quants.dequantize(gguf.quants.quantize(values, kind), kind)


@pytest.mark.parametrize("numerics", list(Numerics))
def test_a_loaded_file_runs_in_every_mode(tmp_path: Path, numerics: Numerics) -> None:
    file = open_model(write_tiny_gguf(tmp_path / "tiny.gguf"))
    weights, prompt = file.read_weights(), list(range(40))
    runner = PagedRunner.build(file.spec, weights, numerics=numerics, num_blocks=4)
    expected = ReferenceModel(file.spec, weights).logits(prompt)[-1]
    got = runner.execute(whole_prompt(prompt, runner.block_size))[0]
    assert torch.corrcoef(torch.stack((got.double(), expected)))[0, 1] > (0.99 if numerics is Numerics.Q4 else 0.999999)


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        ({"general__architecture": "mamba"}, "architecture 'mamba'"),
        ({"llama__block_count": None}, "'llama.block_count' is missing"),
        ({"llama__block_count": "two"}, "'llama.block_count' is not an integer"),
        ({"llama__block_count": 0}, "from 1 to"),
        ({"llama__block_count": 3}, "'blk.2.attn_norm.weight' is missing"),
        ({"llama__block_count": 1}, "would be ignored: blk.1"),
        ({"llama__attention__head_count": 3}, "cannot share|shape"),
        ({"llama__attention__head_count_kv": 2}, "shape"),
        ({"llama__feed_forward_length": 64}, "shape"),
        ({"llama__rope__freq_base": 0.0}, "positive number"),
        ({"llama__rope__freq_base": float("nan")}, "positive number"),
        ({"llama__rope__dimension_count": 16}, "part of each head"),
        ({"llama__rope__scaling__type": "yarn"}, "scaling"),
        ({"llama__context_length": 1 << 30}, "from 1 to"),
        ({"tokenizer__ggml__model": "llama"}, "tokenizer 'llama'"),
        ({"tokenizer__ggml__pre": "mystery"}, "pre-tokenizer 'mystery'"),
        ({"tokenizer__ggml__tokens": ["a", "b"]}, "2 tokens, 260 token types"),
        ({"tokenizer__ggml__tokens": ["same"] * 260}, "a token twice"),
        ({"tokenizer__ggml__token_type": [4] * 260}, "user-defined"),
        ({"tokenizer__ggml__merges": ["a zz"]}, "merge 'a zz'"),
        ({"tokenizer__ggml__eos_token_id": 260}, "a token of 260"),
        ({"tokenizer__ggml__add_bos_token": "yes"}, "true or false"),
        ({"tokenizer__chat_template": 5}, "not a text"),
    ],
)
def test_a_file_the_engine_would_get_wrong_is_refused(tmp_path: Path, overrides: dict[str, Any], reason: str) -> None:
    path = write_tiny_gguf(tmp_path / "wrong.gguf", **overrides)
    with pytest.raises(ModelFileInvalid, match=reason):
        open_model(path).read_weights()


def test_a_tensor_the_decoder_would_ignore_is_refused(tmp_path: Path) -> None:
    tensors = tiny_tensors() | {"blk.0.attn_q.bias": (np.ones(64, np.float32), F32)}
    with pytest.raises(ModelFileInvalid, match=r"ignored: blk\.0\.attn_q\.bias"):
        open_model(write_tiny_gguf(tmp_path / "bias.gguf", tensors=tensors)).read_weights()
