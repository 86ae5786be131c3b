"""A process that keeps answers on disk as fast as it can, and tells of each; it runs until it is killed."""

import asyncio
import sys
from pathlib import Path

from cache.stores import Stored
from cache.stores.disk import DiskAnswers


async def _write(path: Path) -> None:
    store, number = DiskAnswers(path, 1_000_000_000, lambda: 10.0), 0
    while True:
        number += 1
        await store.put(b"%032d" % number, Stored(b"%d" % number * 500, "m", number, {}, 1.0, None, tags=("t",)), 60)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(_write(Path(sys.argv[1])))
