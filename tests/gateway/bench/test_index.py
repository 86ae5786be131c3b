"""The bench of the index does what it says, whatever it measures."""

from gateway.bench.index import rows


async def test_each_shape_is_a_row_whose_entries_come_back() -> None:
    found = [row async for row in rows(entries=500, lookups=20)]
    assert [row.shape for row in found] == ["1 x 500", "10 x 50"]
    for row in found:
        assert 0 < row.lookup_ms <= row.lookup_p99_ms
        assert row.recall > 0.9
        assert row.disk_per_entry > 384
        assert row.restart_s > 0
