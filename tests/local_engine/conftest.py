"""What the engine's tests share."""

import pytest
import torch
from hypothesis import settings

# A first call into torch may take a second, and so may any call on a busy machine.
settings.register_profile("unhurried", settings(), deadline=None)
settings.load_profile("unhurried")


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:  # pyright: ignore[reportUnusedFunction]
    """Compute on one thread: small matmuls gain nothing from two, and the other core belongs to another worker."""
    torch.set_num_threads(1)
