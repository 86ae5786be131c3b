"""The free list of the KV cache: which physical blocks nobody owns."""


class BlockPool:
    """Hands out block ids and takes them back.

    A sequence whose blocks are neighbours is read without a gather, so a run is preferred: first right after the block
    the sequence ends in, then the first hole that is wide enough, and only then single blocks.
    """

    def __init__(self, total: int) -> None:
        if total < 1:
            raise ValueError(f"a pool needs at least one block, not {total}")
        self.total = total
        self._is_free = bytearray(b"\x01" * total)
        self.free = total

    def take(self, count: int, after: int | None = None) -> list[int]:
        """Take `count` blocks, adjoining the block `after` where possible.

        Args:
            count: How many; the caller has checked that so many are free.
            after: The last block of the sequence that will own them.

        Raises:
            ValueError: Fewer than `count` are free; nothing was taken.
        """
        if count > self.free:
            raise ValueError(f"{count} blocks asked for, {self.free} free")
        wanted = b"\x01" * count
        start = -1 if after is None else after + 1
        if start < 0 or not self._is_free.startswith(wanted, start):
            start = self._is_free.find(wanted)
        taken = list(range(start, start + count)) if start >= 0 else self._scattered(count)
        for block in taken:
            self._is_free[block] = 0
        self.free -= count
        return taken

    def give(self, blocks: list[int]) -> None:
        """Take blocks back.

        Raises:
            ValueError: One of them is free already, which means two owners had it.
        """
        for block in blocks:
            if self._is_free[block]:
                raise ValueError(f"block {block} was given back twice")
            self._is_free[block] = 1
        self.free += len(blocks)

    def is_free(self, block: int) -> bool:
        """Whether nobody owns the block."""
        return bool(self._is_free[block])

    def _scattered(self, count: int) -> list[int]:
        taken: list[int] = []
        block = -1
        while len(taken) < count:
            block = self._is_free.find(1, block + 1)
            taken.append(block)
        return taken
