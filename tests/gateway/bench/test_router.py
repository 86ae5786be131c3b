"""What a learned router takes for one request is measured."""

import pytest

pytest.importorskip("safetensors")

from gateway.bench.router import rows
from router_models.artifact import open_scorer


def test_every_row_says_what_was_timed_and_how_it_spread() -> None:
    found = rows(open_scorer(), requests=20)
    assert [row.what for row in found] == ["count what a prompt shows", "score it", "both"]
    assert all(0 < row.median <= row.p95 <= row.p99 for row in found)
