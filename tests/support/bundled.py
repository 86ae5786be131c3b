"""The bundled model for tests that need real weights; a machine without the package skips them, a CI machine fails."""

from __future__ import annotations

import os

import pytest

from local_engine.load.bundled import PACKAGE, bundled_model
from local_engine.load.model_file import ModelFile, open_model


def open_bundled() -> ModelFile:
    """Open the bundled model."""
    path = bundled_model()
    if path is None:
        message = f"the package {PACKAGE} is not installed"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return open_model(path)
