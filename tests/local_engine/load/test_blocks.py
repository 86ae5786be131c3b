from pathlib import Path

import gguf
import numpy as np
import pytest
import torch

from local_engine.load.blocks import ENCODINGS, read_weight
from local_engine.load.gguf import GgufFile, read_gguf
from local_engine.quant.weight import Dense, Grouped, Weight

KINDS = [gguf.GGMLQuantizationType(code) for code in ENCODINGS]


def write(path: Path, kind: gguf.GGMLQuantizationType) -> tuple[GgufFile, np.ndarray]:
    """Write one tensor with the reference quantiser; return the file and the reference's dequantised values."""
    values = np.random.default_rng(0).standard_normal((6, 96)).astype(np.float32)
    stored = gguf.quants.quantize(values, kind)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tensor("t", stored, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return read_gguf(path), gguf.quants.dequantize(stored, kind)


def read(file: GgufFile) -> Weight:
    entry = file.tensors["t"]
    return read_weight(file.data, entry.shape, entry.encoding, entry.offset)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_encoding_dequantises_as_the_reference_does(tmp_path: Path, kind: gguf.GGMLQuantizationType) -> None:
    file, expected = write(tmp_path / "one.gguf", kind)
    weight = read(file)
    assert weight.shape == (6, 96)
    assert torch.equal(weight.dequantised(), torch.from_numpy(expected))


def test_quantised_encodings_keep_their_integers(tmp_path: Path) -> None:
    four = read(write(tmp_path / "four.gguf", gguf.GGMLQuantizationType.Q4_1)[0])
    eight = read(write(tmp_path / "eight.gguf", gguf.GGMLQuantizationType.Q8_0)[0])
    assert isinstance(four, Grouped)
    assert isinstance(eight, Grouped)
    assert (four.bits, four.group, four.codes.dtype, int(four.codes.max())) == (4, 32, torch.uint8, 15)
    assert (eight.bits, eight.group, eight.codes.dtype) == (8, 32, torch.int8)


def test_floating_encodings_stay_as_stored(tmp_path: Path) -> None:
    weight = read(write(tmp_path / "half.gguf", gguf.GGMLQuantizationType.BF16)[0])
    assert isinstance(weight, Dense)
    assert weight.values.dtype == torch.bfloat16
