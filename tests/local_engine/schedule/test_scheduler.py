from hypothesis import given, settings
from hypothesis import strategies as st

from local_engine.cache.manager import CacheManager
from local_engine.cache.radix import Namespace
from local_engine.schedule.policies import Continuous
from local_engine.schedule.scheduler import Scheduler, Share
from local_engine.schedule.sequence import Sequence


def scheduler_of(
    blocks: int, *, size: int = 2, running: int = 4, step_tokens: int = 8, keeps: bool = True
) -> Scheduler:
    return Scheduler(CacheManager(blocks, size, keeps_prefixes=keeps), Continuous(running), step_tokens)


def sequence(sequence_id: int, tokens: list[int], priority: int = 0) -> Sequence:
    return Sequence(sequence_id, Namespace(), tokens, 0.0, priority)


def advance(scheduler: Scheduler, token: int = 9) -> list[tuple[int, int, int]]:
    """Run one step as the engine would and return (sequence, start, count) of each share."""
    shares = scheduler.plan(0.0)
    scheduler.commit(shares)
    for share in shares:
        if share.end == len(share.sequence.tokens):
            share.sequence.tokens.append(token)
    return [(share.sequence.sequence_id, share.start, share.count) for share in shares]


def test_a_long_prompt_is_computed_in_chunks_of_the_budget() -> None:
    scheduler = scheduler_of(20)
    scheduler.add(sequence(0, list(range(19))))
    assert [advance(scheduler) for _ in range(4)] == [[(0, 0, 8)], [(0, 8, 8)], [(0, 16, 3)], [(0, 19, 1)]]


def test_a_prefill_leaves_each_decoding_sequence_its_token() -> None:
    scheduler = scheduler_of(40)
    scheduler.add(sequence(1, [1]))
    advance(scheduler)
    late = sequence(0, list(range(30)))  # came first, but lost its place
    scheduler.add(late)
    assert advance(scheduler) == [(1, 1, 1), (0, 0, 7)]
    assert advance(scheduler) == [(0, 7, 7), (1, 2, 1)]


def test_a_sequence_joins_only_when_all_of_it_fits_with_blocks_to_spare() -> None:
    scheduler = scheduler_of(6)
    scheduler.add(sequence(0, [0, 1, 2]))
    scheduler.add(sequence(1, list(range(10, 17))))
    assert advance(scheduler) == [(0, 0, 3)]
    scheduler.remove(scheduler.running[0])
    assert advance(scheduler) == [(1, 0, 7)]


def test_nobody_overtakes_the_first_that_does_not_fit() -> None:
    scheduler = scheduler_of(6)
    for number, length in enumerate((3, 9, 1)):
        scheduler.add(sequence(number, [10 * number + i for i in range(length)]))
    assert [share[0] for share in advance(scheduler)] == [0]


def test_the_youngest_gives_way_and_resumes_from_what_the_tree_kept() -> None:
    scheduler = scheduler_of(6)
    old, young = sequence(0, [0, 1, 2, 3]), sequence(1, [5, 6, 7])
    scheduler.add(old)
    scheduler.add(young)
    steps = 0
    while not young.preemptions:
        advance(scheduler)
        scheduler.cache.check()
        steps += 1
    assert scheduler.running == [old]
    assert scheduler.waiting == [young]
    scheduler.remove(old)
    [(number, start, _)] = advance(scheduler)
    assert number == 1
    assert start >= 2, "its first block was still cached"


def test_a_preempted_sequence_goes_before_later_arrivals() -> None:
    scheduler = scheduler_of(6)
    scheduler.add(sequence(0, [0, 1, 2, 3]))
    scheduler.add(second := sequence(1, [5, 6, 7]))
    scheduler.add(sequence(2, [8]))
    while not second.preemptions:
        advance(scheduler)
    assert [each.sequence_id for each in scheduler.waiting] == [1, 2]


def test_a_twin_waits_until_the_block_it_lacks_is_committed() -> None:
    scheduler = scheduler_of(40, step_tokens=4)
    prompt = list(range(10))
    scheduler.add(sequence(0, list(prompt)))
    scheduler.add(sequence(1, list(prompt)))
    scheduler.add(sequence(2, [20, 21]))
    assert advance(scheduler) == [(0, 0, 4)]
    assert advance(scheduler) == [(0, 4, 4)]
    assert advance(scheduler) == [(0, 8, 2), (1, 8, 2)]
    assert advance(scheduler) == [(0, 10, 1), (1, 10, 1), (2, 0, 2)]


def test_twins_without_a_prefix_cache_do_not_wait() -> None:
    scheduler = scheduler_of(40, step_tokens=8, keeps=False)
    scheduler.add(sequence(0, [1, 2, 3]))
    scheduler.add(sequence(1, [1, 2, 3]))
    assert advance(scheduler) == [(0, 0, 3), (1, 0, 3)]


def test_what_nobody_waits_for_stops_where_it_is_while_somebody_waits() -> None:
    scheduler = scheduler_of(40, running=2)
    scheduler.add(sequence(0, [0, 1], priority=1))
    scheduler.add(sequence(1, [2, 3], priority=1))
    assert advance(scheduler) == [(0, 0, 2), (1, 0, 2)]
    scheduler.add(urgent := sequence(2, [4, 5]))
    assert advance(scheduler) == [(2, 0, 2)]
    assert advance(scheduler) == [(2, 2, 1)]
    scheduler.remove(urgent)
    assert advance(scheduler) == [(0, 2, 1), (1, 2, 1)]
    assert scheduler.preemptions == 0


def test_what_nobody_waits_for_gives_its_blocks_to_those_that_somebody_does() -> None:
    scheduler = scheduler_of(6)
    scheduler.add(idle := sequence(0, [0, 1, 2, 3, 4, 5], priority=1))
    advance(scheduler)
    scheduler.add(urgent := sequence(1, list(range(6, 13))))
    assert advance(scheduler) == [(1, 0, 7)]
    assert (idle.preemptions, scheduler.running, scheduler.waiting) == (1, [urgent], [idle])
    scheduler.remove(urgent)
    [(number, start, _)] = advance(scheduler)
    assert (number, start > 0) == (0, True)


def test_nobody_waits_for_a_twin_that_stands_still() -> None:
    scheduler = scheduler_of(40, step_tokens=4)
    prompt = list(range(10))
    scheduler.add(sequence(0, list(prompt), priority=1))
    assert advance(scheduler) == [(0, 0, 4)]
    scheduler.add(sequence(1, list(prompt)))
    assert advance(scheduler) == [(1, 4, 4)]


def test_removing_twice_is_harmless() -> None:
    scheduler = scheduler_of(6)
    scheduler.add(one := sequence(0, [0, 1, 2]))
    advance(scheduler)
    scheduler.remove(one)
    scheduler.remove(one)
    scheduler.cache.check()
    assert scheduler.plan(0.0) == []


def _assert_plan_is_sound(scheduler: Scheduler, shares: list[Share], step_tokens: int) -> None:
    assert sum(share.count for share in shares) <= step_tokens
    assert len({share.sequence.sequence_id for share in shares}) == len(shares)
    for share in shares:
        assert share.count >= 1
        assert share.start == share.sequence.computed
        assert len(share.lease.blocks) * scheduler.cache.block_size >= share.end
        assert share.sequence.lease is share.lease


@settings(max_examples=60, deadline=None)
@given(
    prompts=st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=12), min_size=1, max_size=8),
    lengths=st.lists(st.integers(1, 10), min_size=8, max_size=8),
    running=st.integers(1, 5),
    extra_budget=st.integers(0, 6),
    keeps=st.booleans(),
    priorities=st.lists(st.integers(0, 1), min_size=8, max_size=8),
)
def test_every_plan_is_sound_and_everyone_finishes(
    prompts: list[list[int]],
    lengths: list[int],
    running: int,
    extra_budget: int,
    keeps: bool,
    priorities: list[int],
) -> None:
    budget = running + extra_budget
    scheduler = scheduler_of(11, running=running, step_tokens=budget, keeps=keeps)
    goal = {number: len(prompt) + lengths[number] for number, prompt in enumerate(prompts)}
    for number, prompt in enumerate(prompts):
        scheduler.add(sequence(number, list(prompt), priorities[number]))
    for _ in range(5000):
        oldest = min([*scheduler.running, *scheduler.waiting], key=lambda each: (each.priority, each.sequence_id))
        known = len(oldest.tokens)
        shares = scheduler.plan(0.0)
        _assert_plan_is_sound(scheduler, shares, budget)
        assert shares, "the engine never stands still while there is work"
        scheduler.commit(shares)
        scheduler.cache.check()
        for share in shares:
            if share.end == len(share.sequence.tokens):
                share.sequence.tokens.append(share.sequence.sequence_id % 2)
                if len(share.sequence.tokens) == goal[share.sequence.sequence_id]:
                    scheduler.remove(share.sequence)
        assert oldest.computed > 0 or len(oldest.tokens) > known or oldest.lease is None
        if not scheduler.running and not scheduler.waiting:
            break
    assert scheduler.cache.available == scheduler.cache.total
