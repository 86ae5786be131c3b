"""What was met is learnt from once, kept by tenant, and forgotten in time."""

from hypothesis import given
from hypothesis import strategies as st

from cache.prefix.memory import Met, PrefixMemory
from cache.prefix.reuse import MINUTES_S, Kind, Stream


def stream(kind: Kind) -> Stream:
    return Stream("red/bot", "faq", kind)


SYSTEM = Met(b"system", stream("system"))


def turn(memory: PrefixMemory, n: int, at: float, *, answer: bool = True, request: str = "") -> None:
    """Let the n-th turn of a conversation be met and answered."""
    turns = [b"turn%d" % k for k in range(n)]
    latest = Met(b"turn%d" % n, stream("conversation" if n else "opening"))
    memory.meet(request or f"r{n}", [SYSTEM], turns, latest, at)
    if answer:
        kept = {b"system": (MINUTES_S, 1000), latest.digest: (MINUTES_S, 2000)}
        memory.answered("claude", kept, [b"system", latest.digest], at + 1)


def test_a_conversation_that_goes_on_is_a_prefix_that_came_again() -> None:
    memory = PrefixMemory()
    for n in range(4):
        turn(memory, n, at=60.0 * n)
    assert memory.reuse.chance(stream("opening"), MINUTES_S) == 2 / 3
    assert memory.reuse.chance(stream("conversation"), MINUTES_S) == 3 / 5
    assert memory.reuse.chance(stream("system"), MINUTES_S) == 4 / 6


def test_a_request_that_is_tried_again_teaches_nothing() -> None:
    memory = PrefixMemory()
    turn(memory, 0, at=0, request="r")
    turn(memory, 0, at=1, request="r")
    assert memory.reuse.chance(stream("system"), MINUTES_S) == 1 / 3


def test_what_comes_before_the_first_answer_could_read_nothing_and_counts_neither_way() -> None:
    memory = PrefixMemory()
    for request in ("a", "b", "c"):
        turn(memory, 0, at=0, answer=False, request=request)
    assert memory.reuse.chance(stream("system"), MINUTES_S) == 1 / 3


def test_two_branches_of_a_conversation_are_not_two_reads_of_its_start() -> None:
    memory = PrefixMemory()
    turn(memory, 0, at=0)
    for branch in (b"left", b"right"):
        memory.meet(branch.decode(), [], [b"turn0"], Met(branch, stream("conversation")), 10)
    assert memory.reuse.chance(stream("opening"), MINUTES_S) == 2 / 3


def test_what_a_deployment_keeps_is_known_until_it_forgets() -> None:
    memory = PrefixMemory()
    turn(memory, 0, at=0)
    assert memory.kept("claude", b"system", 300) is not None
    assert memory.kept("claude", b"system", 301) is None
    assert memory.kept("other", b"system", 2) is None
    assert memory.homes([b"system", b"turn0", b"unknown"], 2) == {"claude": 2000}
    assert memory.homes([b"system", b"turn0"], 301) == {}


def test_a_deployment_that_fails_is_left() -> None:
    memory = PrefixMemory()
    turn(memory, 0, at=0)
    memory.left("claude", [b"turn0", b"system", b"unknown"])
    assert memory.homes([b"system", b"turn0"], 2) == {}


@given(st.lists(st.integers(0, 50), max_size=200))
def test_memory_is_bounded(order: list[int]) -> None:
    memory = PrefixMemory(most=10)
    for at, n in enumerate(order):
        memory.meet(str(at), [], [], Met(b"%d" % n, stream("opening")), at)
        memory.answered("claude", {b"%d" % n: (300, 1), b"session": (300, 1)}, [], at)
        assert len(memory) <= 10
