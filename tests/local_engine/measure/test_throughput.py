"""What a token takes of the machine's time, by arithmetic."""

from itertools import cycle, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_engine.measure.probe import Speeds
from local_engine.measure.throughput import HALF_LIFE_S, PRIOR_S, Throughput, Work

PROBED = Speeds(prefill=1000.0, decode=50.0)

works = st.builds(Work, st.integers(0, 512), st.integers(0, 32), st.integers(0, 512)).filter(
    lambda work: bool(work.read or work.made or work.again)
)
steps = st.tuples(works, st.floats(1e-4, 30.0))


def after(throughput: Throughput, taken: list[tuple[Work, float]]) -> Throughput:
    for work, seconds in taken:
        throughput = throughput.after(work, seconds)
    return throughput


def machine_s(work: Work, speeds: Speeds) -> float:
    """Seconds that the tokens of a step are priced at."""
    assert speeds.decode is not None
    return work.read / speeds.prefill + work.made / speeds.decode


@given(before=st.lists(steps, max_size=20), span=st.lists(steps, min_size=1, max_size=40))
def test_the_tokens_of_any_span_take_the_seconds_in_which_the_machine_was_busy(
    before: list[tuple[Work, float]], span: list[tuple[Work, float]]
) -> None:
    began = after(Throughput.probed(PROBED), before)
    ended = after(began, span)
    assert began.decode is not None
    assert ended.decode is not None
    busy_s = 0.0
    for first, last, tokens in (
        (began.prefill, ended.prefill, sum(work.read for work, _ in span)),
        (began.decode, ended.decode, sum(work.made for work, _ in span)),
    ):
        assert last.tokens - first.tokens == tokens
        seconds = last.seconds - first.seconds
        busy_s += tokens / (tokens / seconds) if tokens and seconds else seconds
    assert busy_s == pytest.approx(sum(seconds for _, seconds in span), abs=1e-9)


@given(taken=st.lists(steps, max_size=60))
def test_speeds_are_always_numbers_above_zero(taken: list[tuple[Work, float]]) -> None:
    speeds = after(Throughput.probed(PROBED), taken).speeds
    assert 0 < speeds.prefill < float("inf")
    assert 0 < (speeds.decode or 0) < float("inf")


@pytest.mark.parametrize(
    "load",
    [
        [(Work(512), 0.4), *[(Work(0, 8), 0.03)] * 60],
        [(Work(200, 1), 0.25), *[(Work(0, 1), 0.02)] * 9],
        [(Work(480, 9), 0.45), (Work(0, 10), 0.04)],
        [(Work(1, 1), 0.02), *[(Work(0, 1), 0.02)] * 30],
        [(Work(128, 4), 0.2), (Work(0, 8, again=40), 0.09), (Work(0, 8), 0.03)],
    ],
    ids=["chunks and a batch", "one at a time", "always mixed", "cached prompts", "preempted"],
)
def test_under_a_steady_load_the_prices_earn_what_the_machine_costs_while_it_is_busy(
    load: list[tuple[Work, float]],
) -> None:
    steady = after(Throughput.probed(PROBED), list(islice(cycle(load), 100_000))).speeds
    priced = sum(machine_s(work, steady) for work, _ in load)
    assert priced == pytest.approx(sum(seconds for _, seconds in load), rel=0.01)


def test_one_slow_step_does_not_triple_a_price_not_even_the_first() -> None:
    begun = Throughput.probed(PROBED)
    for throughput in (begun, after(begun, [(Work(0, 8), 0.03)] * 10_000)):
        slow = throughput.after(Work(0, 1), 30.0).speeds.decode
        assert throughput.speeds.decode is not None
        assert slow is not None
        assert slow > throughput.speeds.decode / 3


def test_what_was_seen_is_forgotten_slowly_and_each_phase_by_its_own_work() -> None:
    begun = Throughput.probed(PROBED)
    batches = [(Work(0, 8), 0.04)]
    a_while = after(begun, batches * round(PRIOR_S / 0.04))
    assert 110 < (a_while.speeds.decode or 0) < 150, "the probe's 50 and the batch's 200 weigh about the same"
    long = after(begun, batches * round(8 * HALF_LIFE_S / 0.04))
    assert long.speeds.decode == pytest.approx(200, rel=0.01)
    assert long.speeds.prefill == PROBED.prefill


def test_a_model_that_only_reads_takes_all_the_seconds_for_it() -> None:
    read = Throughput.probed(Speeds(prefill=100.0, decode=None)).after(Work(900), 3.0)
    assert read.speeds.prefill == pytest.approx(118, rel=0.02)
    assert read.speeds.decode is None
    assert (read.prefill.tokens, read.prefill.seconds) == (900, 3.0)
