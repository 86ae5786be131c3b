"""What the engine's tests share."""

import pytest
import torch


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:  # pyright: ignore[reportUnusedFunction]
    """Compute on one thread: small matmuls gain nothing from two, and the other core belongs to another worker."""
    torch.set_num_threads(1)
