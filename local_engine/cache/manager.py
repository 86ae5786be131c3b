"""Who owns each block of the KV cache.

Every block has exactly one owner: the free list, one node of the prefix tree, or the private tail of one sequence's
lease. Sharing is a lock on a path of the tree, never a second owner, so at any time

    free + tree + sum of private tails == total        and        sum of locks == live leases

The life of a lease: `match` a prefix, `open` (lock it), `reserve` room, compute, `commit` what was computed, `release`.

Twins that compute the same prefix in the same step each write blocks of their own. The first to commit gives its block
to the tree; the second finds it there, gives its copy back and points its table at the tree's block. A table therefore
never names a block that its lease neither owns nor locks.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from local_engine.cache.pool import BlockPool
from local_engine.cache.radix import Namespace, Node, RadixTree

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(slots=True, eq=False)
class Lease:
    """One sequence's hold on the cache.

    Attributes:
        node: Where its locked path in the tree ends.
        blocks: Its block table: first the path's blocks, then its private tail.
        shared: How many leading blocks belong to the tree.
    """

    node: Node
    blocks: list[int]
    shared: int


class CacheManager:
    """The only owner of blocks; everything else asks it.

    Args:
        num_blocks: Blocks in the pool.
        block_size: Tokens in a block.
        keeps_prefixes: Whether computed blocks stay for later sequences.
    """

    def __init__(self, num_blocks: int, block_size: int, *, keeps_prefixes: bool = True) -> None:
        self.block_size = block_size
        self.keeps_prefixes = keeps_prefixes
        self._pool = BlockPool(num_blocks)
        self._tree = RadixTree(block_size)
        self._leases: set[Lease] = set()

    @property
    def total(self) -> int:
        """Blocks in the pool."""
        return self._pool.total

    @property
    def available(self) -> int:
        """Blocks that a new owner could have now: free ones, and unlocked ones that would be evicted."""
        return self._pool.free + self._tree.blocks - self._tree.locked

    @property
    def cached(self) -> int:
        """Blocks in the prefix tree."""
        return self._tree.blocks

    def blocks_for(self, tokens: int) -> int:
        """How many blocks hold so many tokens."""
        return -(-tokens // self.block_size)

    def match(self, namespace: Namespace, tokens: Sequence[int]) -> list[Node]:
        """Find the longest cached prefix, leaving at least the last token to compute: its logits are needed."""
        return self._tree.match(namespace, tokens[:-1]) if self.keeps_prefixes else []

    def fits(self, prefix: Sequence[Node], tokens: int, spare: int) -> bool:
        """Whether `tokens` tokens that begin with a matched prefix fit now and leave `spare` blocks over."""
        fresh = self.blocks_for(tokens) - len(prefix)
        newly_locked = sum(1 for node in prefix if not node.locks)
        return fresh + spare <= self.available - newly_locked

    def open(self, namespace: Namespace, prefix: Sequence[Node]) -> Lease:
        """Lock a matched prefix and begin a sequence with it."""
        node = prefix[-1] if prefix else self._tree.root(namespace)
        self._tree.lock(node)
        lease = Lease(node, [each.block for each in prefix], len(prefix))
        self._leases.add(lease)
        return lease

    def reserve(self, lease: Lease, tokens: int) -> bool:
        """Make the lease's table cover positions 0 to `tokens - 1`, evicting idle prefixes if need be.

        Returns:
            False when there is no room; then nothing changed.
        """
        wanted = self.blocks_for(tokens) - len(lease.blocks)
        if wanted <= 0:
            return True
        if wanted > self.available:
            return False
        if (short := wanted - self._pool.free) > 0:
            self._pool.give(self._tree.evict(short))
        last = lease.blocks[-1] if lease.blocks else None
        lease.blocks.extend(self._pool.take(wanted, after=last))
        return True

    def commit(self, lease: Lease, tokens: Sequence[int], computed: int) -> None:
        """Give the blocks that are now full to the tree.

        Args:
            lease: The sequence's lease.
            tokens: Its tokens.
            computed: How many of them have keys and values in the cache; only these may enter the tree.
        """
        if not self.keeps_prefixes:
            return
        while (end := (lease.shared + 1) * self.block_size) <= computed:
            key = tuple(tokens[end - self.block_size : end])
            own = lease.blocks[lease.shared]
            child = lease.node.children.get(key)
            if child is None:
                child = self._tree.insert(lease.node, key, own)
            else:  # a twin was first
                lease.blocks[lease.shared] = child.block
                self._pool.give([own])
            self._tree.descend(child)
            lease.node = child
            lease.shared += 1

    def release(self, lease: Lease) -> None:
        """End a lease: its tail becomes free, its path may be evicted. Doing so twice is harmless."""
        if lease not in self._leases:
            return
        self._leases.remove(lease)
        self._pool.give(lease.blocks[lease.shared :])
        lease.blocks = []
        self._tree.unlock(lease.node)

    def check(self) -> None:
        """Verify that every block has exactly one owner and that locks and leases agree.

        Raises:
            AssertionError: They do not.
        """
        owners = Counter(block for block in range(self.total) if self._pool.is_free(block))
        owners.update(node.block for node in self._tree.walk())
        for lease in self._leases:
            owners.update(lease.blocks[lease.shared :])
            path = [node.block for node in lease.node.path()][-2::-1]
            if path != lease.blocks[: lease.shared]:
                raise AssertionError("a lease's table and its path in the tree differ")
        wrong = {block: owners[block] for block in range(self.total) if owners[block] != 1}
        if wrong or len(owners) != self.total or self._pool.free > self.total:
            raise AssertionError(f"blocks without exactly one owner: {wrong}")
        self._tree.check(Counter(lease.node for lease in self._leases))
