from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_engine.measure.machine import Machine, Turn
from tests.support.clocks import HandClock


def test_one_who_is_alone_on_the_machine_has_all_its_seconds() -> None:
    clock = HandClock()
    machine = Machine(clock)
    clock.pass_on(7.0)
    with machine.at_work() as turn:
        clock.pass_on(2.0)
    assert turn.seconds == 2.0


def test_two_share_the_seconds_in_which_both_are_at_work() -> None:
    clock = HandClock()
    machine = Machine(clock)
    with machine.at_work() as long:
        clock.pass_on(1.0)
        with machine.at_work() as short:
            clock.pass_on(4.0)
        clock.pass_on(1.0)
    assert (long.seconds, short.seconds) == (4.0, 2.0)


def test_who_fails_is_no_longer_at_work() -> None:
    clock = HandClock()
    machine = Machine(clock)
    with pytest.raises(RuntimeError), machine.at_work():
        raise RuntimeError
    with machine.at_work() as turn:
        clock.pass_on(1.0)
    assert turn.seconds == 1.0


@given(moves=st.lists(st.tuples(st.integers(0, 3), st.floats(0, 100))))
def test_all_together_have_the_seconds_in_which_any_was_at_work(moves: list[tuple[int, float]]) -> None:
    clock = HandClock(0.0)
    machine = Machine(clock)
    working: dict[int, ExitStack] = {}
    turns: list[Turn] = []
    busy_s = 0.0
    for worker, seconds in moves:
        if worker in working:
            working.pop(worker).close()
        else:
            working[worker] = ExitStack()
            turns.append(working[worker].enter_context(machine.at_work()))
        clock.pass_on(seconds)
        busy_s += seconds if working else 0.0
    for stack in working.values():
        stack.close()
    assert sum(turn.seconds for turn in turns) == pytest.approx(busy_s)
