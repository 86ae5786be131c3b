"""Writes the tiny model as a GGUF file, with the reference writer and the reference quantiser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gguf
import numpy as np

from tests.support.tiny_model import TINY_SPEC
from tests.support.tiny_text import TINY_TEMPLATE, tiny_vocabulary

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

Q4 = gguf.GGMLQuantizationType.Q4_1
Q8 = gguf.GGMLQuantizationType.Q8_0
F32 = gguf.GGMLQuantizationType.F32
F16 = gguf.GGMLQuantizationType.F16
BF16 = gguf.GGMLQuantizationType.BF16


def tiny_tensors(seed: int = 0) -> dict[str, tuple[NDArray[np.float32], gguf.GGMLQuantizationType]]:
    """Draw every tensor of the tiny model, with the encoding it is to be written in."""
    spec, noise = TINY_SPEC, np.random.default_rng(seed)
    q, kv = spec.heads * spec.head_dim, spec.kv_heads * spec.head_dim

    def matrix(rows: int, columns: int) -> NDArray[np.float32]:
        return (noise.standard_normal((rows, columns)) / columns**0.5).astype(np.float32)

    tensors = {
        "token_embd.weight": (matrix(spec.vocab, spec.hidden), Q8),
        "output.weight": (matrix(spec.vocab, spec.hidden), F16),
        "output_norm.weight": (np.ones(spec.hidden, np.float32), F32),
    }
    for i in range(spec.layers):
        tensors |= {
            f"blk.{i}.attn_norm.weight": (np.ones(spec.hidden, np.float32), F32),
            f"blk.{i}.attn_q.weight": (matrix(q, spec.hidden), Q4),
            f"blk.{i}.attn_k.weight": (matrix(kv, spec.hidden), Q4),
            f"blk.{i}.attn_v.weight": (matrix(kv, spec.hidden), BF16),
            f"blk.{i}.attn_output.weight": (matrix(spec.hidden, q), Q4),
            f"blk.{i}.ffn_norm.weight": (np.ones(spec.hidden, np.float32), F32),
            f"blk.{i}.ffn_gate.weight": (matrix(spec.ffn, spec.hidden), Q4),
            f"blk.{i}.ffn_up.weight": (matrix(spec.ffn, spec.hidden), Q8),
            f"blk.{i}.ffn_down.weight": (matrix(spec.hidden, spec.ffn), Q4),
        }
    return tensors


def write_tiny_gguf(path: Path, *, tensors: Any = None, **overrides: Any) -> Path:
    """Write the file; `overrides` replace metadata by key, with `__` for a dot, and None leaves the key out."""
    spec, vocabulary = TINY_SPEC, tiny_vocabulary()
    metadata: dict[str, Any] = {
        "llama.block_count": spec.layers,
        "llama.context_length": spec.context,
        "llama.embedding_length": spec.hidden,
        "llama.feed_forward_length": spec.ffn,
        "llama.attention.head_count": spec.heads,
        "llama.attention.head_count_kv": spec.kv_heads,
        "llama.rope.freq_base": spec.rope_base,
        "llama.attention.layer_norm_rms_epsilon": spec.norm_epsilon,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": list(vocabulary.tokens),
        "tokenizer.ggml.token_type": [3 if i in vocabulary.control else 1 for i in range(spec.vocab)],
        "tokenizer.ggml.merges": list(vocabulary.merges),
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.chat_template": TINY_TEMPLATE,
    } | {key.replace("__", "."): value for key, value in overrides.items()}
    writer = gguf.GGUFWriter(path, metadata.pop("general.architecture", "llama"))
    for key, value in metadata.items():
        _add(writer, key, value)
    for name, (values, encoding) in (tensors or tiny_tensors()).items():
        writer.add_tensor(name, gguf.quants.quantize(values, encoding), raw_dtype=encoding)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add(writer: gguf.GGUFWriter, key: str, value: Any) -> None:
    match value:
        case None:
            return
        case bool():
            writer.add_bool(key, value)
        case int():
            writer.add_uint32(key, value)
        case float():
            writer.add_float32(key, value)
        case str():
            writer.add_string(key, value)
        case _:
            writer.add_array(key, value)
