"""The prefix tree: computed blocks, found again by the tokens they hold.

An edge is one block of tokens, so a node is one physical block whose keys and values depend on the whole path above
it. Sequences that begin alike share the path: RadixAttention (SGLang, arXiv 2312.07104) at the block granularity of
PagedAttention (arXiv 2309.06180). A lock on a node protects its whole path. Only unlocked leaves are evicted, the
least recently used first, by a logical clock: two runs of the same requests evict the same blocks.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Key = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Namespace:
    """Whose prefixes these are; equal tokens in different namespaces never meet.

    A structured key rather than text: what else comes to tell prefixes apart (an adapter, a KV format) is a field of
    its own, and no salt can imitate it.

    Attributes:
        salt: The caller's secret share of the key; a gateway puts its tenant here.
    """

    salt: str = ""


@dataclass(slots=True, eq=False)
class Node:
    """One block in the tree; a namespace's root has no block and no parent.

    Attributes:
        key: The tokens in the block.
        locks: Live leases in the subtree: on this node or anywhere below it.
        used: When a lease that covered the block was last released, on the tree's clock.
    """

    namespace: Namespace
    parent: Node | None
    key: Key
    block: int
    children: dict[Key, Node] = field(default_factory=dict)
    locks: int = 0
    used: int = 0

    def path(self) -> Iterator[Node]:
        """This node and its ancestors, the root last."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    @property
    def is_idle(self) -> bool:
        """Whether the node may be evicted: a leaf that no lease needs and that still is in the tree."""
        return not self.children and not self.locks and self.parent is not None


class RadixTree:
    """Every computed block that may serve again, by namespace and tokens.

    Attributes:
        blocks: Blocks that the tree owns.
        locked: Those of them that a lease protects.
    """

    def __init__(self, block_size: int) -> None:
        self.block_size = block_size
        self.blocks = 0
        self.locked = 0
        self._roots: dict[Namespace, Node] = {}
        self._clock = count(1)
        self._order = count()
        # Leaves in order of use. An entry is stale once its node was used again, locked, extended or evicted.
        self._idle: list[tuple[int, int, Node]] = []

    def match(self, namespace: Namespace, tokens: Sequence[int]) -> list[Node]:
        """Return the nodes of the longest path that holds a prefix of `tokens`, in whole blocks.

        Nothing is locked or marked as used: a look is not a use.
        """
        node = self._roots.get(namespace)
        found: list[Node] = []
        size = self.block_size
        for start in range(0, len(tokens) - size + 1, size):
            node = node and node.children.get(tuple(tokens[start : start + size]))
            if node is None:
                break
            found.append(node)
        return found

    def root(self, namespace: Namespace) -> Node:
        """Return where the namespace begins; it stays while it has children or locks."""
        return self._roots.setdefault(namespace, Node(namespace, None, (), -1))

    def lock(self, node: Node) -> None:
        """Protect the node and its ancestors from eviction."""
        for each in node.path():
            self._add_lock(each)

    def unlock(self, node: Node) -> None:
        """Undo one `lock`, and mark the path as used now."""
        now = next(self._clock)
        for each in node.path():
            each.locks -= 1
            each.used = now
            if not each.locks and each.parent is not None:
                self.locked -= 1
        self._note_idle(node)
        self._drop_if_empty(self._roots[node.namespace])

    def insert(self, parent: Node, key: Key, block: int) -> Node:
        """Give a block to the tree, as the child of a locked node that has no such child yet."""
        node = Node(parent.namespace, parent, key, block)
        parent.children[key] = node
        self.blocks += 1
        return node

    def descend(self, child: Node) -> None:
        """Move one lock from a node's parent to the node; the ancestors keep theirs."""
        self._add_lock(child)

    def evict(self, wanted: int) -> list[int]:
        """Take up to `wanted` blocks out of the tree, least recently used first, and return them."""
        evicted: list[int] = []
        while self._idle and len(evicted) < wanted:
            used, _, node = heapq.heappop(self._idle)
            if node.used != used or not node.is_idle:
                continue
            parent = node.parent
            assert parent is not None  # noqa: S101  an idle node has one
            del parent.children[node.key]
            node.parent = None
            self.blocks -= 1
            evicted.append(node.block)
            self._note_idle(parent)
            self._drop_if_empty(parent)
        return evicted

    def walk(self) -> Iterator[Node]:
        """Every node that owns a block."""
        pending = list(self._roots.values())
        while pending:
            node = pending.pop()
            pending.extend(node.children.values())
            if node.parent is not None:
                yield node

    def check(self, leases: Mapping[Node, int]) -> None:
        """Verify the counters against the tree itself.

        Args:
            leases: How many live leases end in each node.

        Raises:
            AssertionError: Locks, blocks or the order of eviction do not add up.
        """
        nodes = [*self.walk(), *self._roots.values()]
        for node in nodes:
            below = sum(child.locks for child in node.children.values())
            _require(node.locks == below + leases.get(node, 0), f"locks of {node.namespace} at depth {len(node.key)}")
            _require(node.parent is not None or bool(node.children) or node.locks > 0, "an empty root was kept")
        owned = [node for node in nodes if node.parent is not None]
        _require(self.blocks == len(owned), f"{self.blocks} blocks counted, {len(owned)} found")
        _require(self.locked == sum(1 for node in owned if node.locks), "locked blocks")
        _require(sum(root.locks for root in self._roots.values()) == sum(leases.values()), "locks and leases differ")
        reachable = {node for used, _, node in self._idle if node.used == used and node.is_idle}
        _require(reachable == {node for node in owned if node.is_idle}, "an idle leaf cannot be evicted")

    def _add_lock(self, node: Node) -> None:
        if not node.locks and node.parent is not None:
            self.locked += 1
        node.locks += 1

    def _note_idle(self, node: Node) -> None:
        if not node.is_idle:
            return
        heapq.heappush(self._idle, (node.used, next(self._order), node))
        if len(self._idle) > 2 * self.blocks + 64:
            self._idle = [entry for entry in self._idle if entry[2].used == entry[0] and entry[2].is_idle]
            heapq.heapify(self._idle)

    def _drop_if_empty(self, node: Node) -> None:
        if node.parent is None and not node.children and not node.locks:
            self._roots.pop(node.namespace, None)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(f"the prefix tree is inconsistent: {what}")
