"""The prefix tree against a naive model: a set of token prefixes and a list of what is locked."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from local_engine.cache.radix import Namespace, Node, RadixTree

SIZE = 2
NAMESPACES = (Namespace(), Namespace("a"), Namespace("b"))
Prefix = tuple[Namespace, tuple[int, ...]]


class TreeAgainstPrefixSet(RuleBasedStateMachine):
    """Insert along random token strings, lock and release, evict; compare with plain sets of prefixes."""

    leases: Bundle[tuple[Node, Prefix]] = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.tree = RadixTree(SIZE)
        self.stored: dict[Prefix, int] = {}
        self.used: dict[Prefix, int] = {}
        self.live: list[tuple[Node, Prefix]] = []
        self.block = 0
        self.tick = 0

    def longest(self, namespace: Namespace, tokens: tuple[int, ...]) -> list[int]:
        blocks: list[int] = []
        for end in range(SIZE, len(tokens) + 1, SIZE):
            if (block := self.stored.get((namespace, tokens[:end]))) is None:
                break
            blocks.append(block)
        return blocks

    @rule(
        target=leases,
        namespace=st.sampled_from(NAMESPACES),
        tokens=st.lists(st.integers(0, 1), max_size=8).map(tuple),
        grow=st.booleans(),
    )
    def lease(self, namespace: Namespace, tokens: tuple[int, ...], grow: bool) -> tuple[Node, Prefix]:
        path = self.tree.match(namespace, tokens)
        assert [node.block for node in path] == self.longest(namespace, tokens)
        node = path[-1] if path else self.tree.root(namespace)
        self.tree.lock(node)
        end = len(path) * SIZE
        while grow and end + SIZE <= len(tokens):
            end += SIZE
            node = self.tree.insert(node, tokens[end - SIZE : end], self.block)
            self.tree.descend(node)
            self.stored[namespace, tokens[:end]] = self.block
            self.used[namespace, tokens[:end]] = 0
            self.block += 1
        held = (node, (namespace, tokens[:end]))
        self.live.append(held)
        return held

    @rule(held=consumes(leases))
    def release(self, held: tuple[Node, Prefix]) -> None:
        node, (namespace, tokens) = held
        self.tree.unlock(node)
        self.live.remove(held)
        self.tick += 1
        for end in range(SIZE, len(tokens) + 1, SIZE):
            self.used[namespace, tokens[:end]] = self.tick

    def locked(self) -> set[Prefix]:
        return {(ns, tokens[:end]) for _, (ns, tokens) in self.live for end in range(SIZE, len(tokens) + 1, SIZE)}

    def idle(self) -> list[Prefix]:
        parents = {(ns, tokens[:-SIZE]) for ns, tokens in self.stored}
        return [each for each in self.stored if each not in parents and each not in self.locked()]

    @precondition(lambda self: bool(self.stored))
    @rule()
    def evict_one(self) -> None:
        idle = self.idle()
        evicted = self.tree.evict(1)
        assert len(evicted) == min(1, len(idle))
        for block in evicted:
            prefix = next(each for each, stored in self.stored.items() if stored == block)
            assert prefix in idle
            assert self.used[prefix] == min(self.used[each] for each in idle)
            del self.stored[prefix]

    @rule(wanted=st.integers(2, 5))
    def evict_many(self, wanted: int) -> None:
        evictable = len(self.stored) - len(self.locked())
        evicted = set(self.tree.evict(wanted))
        assert len(evicted) == min(wanted, evictable)
        self.stored = {prefix: block for prefix, block in self.stored.items() if block not in evicted}
        assert self.locked() <= set(self.stored)

    @invariant()
    def counters_agree(self) -> None:
        leases: dict[Node, int] = {}
        for node, _ in self.live:
            leases[node] = leases.get(node, 0) + 1
        self.tree.check(leases)
        assert self.tree.blocks == len(self.stored)
        assert self.tree.locked == len(self.locked())


TreeAgainstPrefixSet.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
test_the_tree_agrees_with_a_set_of_prefixes = TreeAgainstPrefixSet.TestCase


def test_namespaces_never_meet() -> None:
    tree = RadixTree(SIZE)
    node = tree.root(Namespace("a"))
    tree.lock(node)
    tree.descend(tree.insert(node, (1, 2), 0))
    assert tree.match(Namespace("b"), (1, 2)) == []
    assert len(tree.match(Namespace("a"), (1, 2, 3))) == 1


def test_a_namespace_without_blocks_or_locks_is_forgotten() -> None:
    tree = RadixTree(SIZE)
    root = tree.root(Namespace("once"))
    tree.lock(root)
    child = tree.insert(root, (1, 2), 0)
    tree.descend(child)
    tree.unlock(child)
    assert tree.evict(1) == [0]
    tree.check({})
    assert tree.root(Namespace("once")) is not root


def test_a_path_used_often_does_not_grow_the_eviction_queue() -> None:
    tree = RadixTree(SIZE)
    root = tree.root(Namespace())
    tree.lock(root)
    child = tree.insert(root, (1, 2), 0)
    tree.descend(child)
    tree.unlock(child)
    for _ in range(1000):
        tree.lock(child)
        tree.unlock(child)
    assert len(tree._idle) <= 2 * tree.blocks + 65
    assert tree.evict(1) == [0]
