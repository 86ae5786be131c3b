"""What an embedding takes is measured, and what it does to the event loop."""

from gateway.bench.embedding import rows


async def test_every_row_says_what_was_timed_and_how_it_spread() -> None:
    found = [row async for row in rows(texts=4)]
    assert [row.what for row in found] == [
        "embed a text of 21 tokens",
        "embed a text of 213 tokens",
        "event loop late, at rest",
        "event loop late, while embedding",
    ]
    assert all(0 <= row.median <= row.p95 <= row.p99 for row in found)
