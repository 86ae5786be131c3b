"""What a serving process asks of the system."""

import subprocess
import sys

import pytest

SCRIPT = """
import resource
from gateway.server import _allow_open_files
resource.setrlimit(resource.RLIMIT_NOFILE, (256, {hard}))
_allow_open_files(1000)
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize(("hard", "allowed"), [(4000, "1000"), (500, "500")])
def test_a_process_may_open_as_many_files_as_its_connections_need(hard: int, allowed: str) -> None:
    line = [sys.executable, "-c", SCRIPT.format(hard=hard)]
    assert subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip() == allowed  # noqa: S603  our own
