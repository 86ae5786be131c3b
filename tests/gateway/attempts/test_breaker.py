"""A breaker opens on what keeps failing, and closes after one call that does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.attempts.breaker import Breaker, BreakerRule
from tests.support.clocks import HandClock

RULE = BreakerRule(failures=3, percent=50, within_s=60, pause_s=30)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def breaker(clock: HandClock) -> Breaker:
    return Breaker(clock, RULE)


def fail(breaker: Breaker, times: int = 1) -> None:
    for _ in range(times):
        breaker.failed(probe=breaker.begin())


def succeed(breaker: Breaker, times: int = 1) -> None:
    for _ in range(times):
        breaker.succeeded(probe=breaker.begin())


def test_a_run_of_failures_opens_it(breaker: Breaker) -> None:
    fail(breaker, 2)
    assert not breaker.resting
    fail(breaker)
    assert (breaker.state, breaker.resting, breaker.rests_for_s) == ("open", True, 30)


def test_a_success_ends_a_run(breaker: Breaker) -> None:
    succeed(breaker, 10)
    for _ in range(3):
        fail(breaker, 2)
        succeed(breaker)
    assert breaker.state == "closed"


def test_a_large_share_of_failures_opens_it_once_there_were_enough_calls(breaker: Breaker) -> None:
    for _ in range(2):
        succeed(breaker)
        fail(breaker)
    assert breaker.state == "closed"
    succeed(breaker)
    fail(breaker)
    assert breaker.state == "open"


def test_failures_of_long_ago_do_not_count(breaker: Breaker, clock: HandClock) -> None:
    for _ in range(2):
        succeed(breaker)
        fail(breaker)
    clock.pass_on(61)
    succeed(breaker)
    fail(breaker)
    assert breaker.state == "closed"


def test_after_its_pause_one_call_may_try_it(breaker: Breaker, clock: HandClock) -> None:
    fail(breaker, 3)
    clock.pass_on(30)
    assert (breaker.state, breaker.resting) == ("half_open", False)
    assert breaker.begin() is True
    assert breaker.resting


def test_a_probe_that_is_answered_closes_it(breaker: Breaker, clock: HandClock) -> None:
    fail(breaker, 3)
    clock.pass_on(30)
    succeed(breaker)
    assert breaker.state == "closed"
    fail(breaker, 2)
    assert breaker.state == "closed"


def test_a_probe_that_fails_opens_it_for_another_pause(breaker: Breaker, clock: HandClock) -> None:
    fail(breaker, 3)
    clock.pass_on(30)
    fail(breaker)
    assert (breaker.state, breaker.rests_for_s) == ("open", 30)


def test_a_probe_of_whose_end_nobody_knows_leaves_the_next_one_to_try(breaker: Breaker, clock: HandClock) -> None:
    fail(breaker, 3)
    clock.pass_on(30)
    breaker.left_open(probe=breaker.begin())
    assert (breaker.state, breaker.resting) == ("half_open", False)


def test_the_end_of_a_call_from_before_it_opened_is_not_taken_for_the_probes(
    breaker: Breaker, clock: HandClock
) -> None:
    early = breaker.begin()
    fail(breaker, 3)
    clock.pass_on(30)
    probe = breaker.begin()
    breaker.succeeded(probe=early)
    assert (breaker.state, breaker.resting) == ("half_open", True)
    breaker.succeeded(probe=probe)
    assert breaker.state == "closed"


def test_another_rule_holds_from_the_next_call_on(breaker: Breaker) -> None:
    fail(breaker, 2)
    breaker.obey(BreakerRule(failures=1))
    fail(breaker)
    assert breaker.state == "open"


calls = st.lists(st.tuples(st.sampled_from(["fail", "succeed", "leave"]), st.floats(0, 40)), max_size=60)


@given(calls)
def test_it_never_rests_for_longer_than_its_pause_and_lets_one_probe_at_a_time_through(
    story: list[tuple[str, float]],
) -> None:
    clock = HandClock()
    breaker = Breaker(clock, RULE)
    for end, seconds in story:
        clock.pass_on(seconds)
        assert breaker.rests_for_s <= RULE.pause_s
        if breaker.resting:
            assert breaker.state == "open"
            clock.pass_on(breaker.rests_for_s + 1e-6)
        probe = breaker.begin()
        assert breaker.resting is probe
        {"fail": breaker.failed, "succeed": breaker.succeeded, "leave": breaker.left_open}[end](probe=probe)
