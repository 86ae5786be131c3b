"""Which embedding a name opens."""

import asyncio

from cache.embedding.batching import Limits
from cache.embedding.opening import open_embedding


async def test_the_bundled_model_opens_by_default() -> None:
    embedding = await open_embedding(limits=Limits(patience_s=30))
    try:
        first, second = await asyncio.gather(embedding.embed(["a", "b"]), embedding.embed(["a"]))
        assert first.shape == (2, embedding.dimensions)
        assert abs(first[0] @ second[0] - 1) < 1e-5
        assert (await embedding.embed([])).shape == (0, embedding.dimensions)
    finally:
        await embedding.close()
