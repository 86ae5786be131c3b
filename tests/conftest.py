"""What every test of this repository shares."""

import pytest


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run async tests on asyncio, the loop the gateway runs on."""
    return "asyncio"
