"""What an engine says its tokens take, over a model whose steps take a time that is known."""

import pytest

from local_engine.config import Batching
from local_engine.engine import Engine
from local_engine.measure.throughput import Pace
from local_engine.request import Request
from local_engine.types import SamplingParams, StepPlan
from tests.support.clocks import HandClock
from tests.support.hash_engine import HashRunner, hash_engine, run_to_end


def asking(name: str, prompt: tuple[int, ...] = (1, 2, 3), *, choices: int = 1, max_tokens: int = 20) -> Request:
    return Request(name, prompt, SamplingParams(max_tokens, temperature=0.0, ignore_eos=True), choices)


class TimedModel:
    """Takes a hundredth of a second for a step and a thousandth for each of its tokens."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.busy_s = 0.0

    def engine(self, batching: Batching | None = None, *, blocks: int = 400) -> Engine:
        return hash_engine(HashRunner(num_blocks=blocks, on_step=self._take), batching, self.clock)

    def _take(self, plan: StepPlan) -> None:
        seconds = 0.01 + 0.001 * sum(len(chunk.tokens) for chunk in plan.chunks)
        self.clock.pass_on(seconds)
        self.busy_s += seconds


def serve(engine: Engine, *requests: Request) -> None:
    for request in requests:
        engine.add(request)
    run_to_end(engine)


def phases(engine: Engine) -> tuple[Pace, Pace]:
    throughput = engine.stats().throughput
    assert throughput.decode is not None
    return throughput.prefill, throughput.decode


def test_a_token_of_a_batch_takes_less_of_the_machine_than_one_alone() -> None:
    speeds: list[float] = []
    for batch in (1, 8):
        model = TimedModel()
        engine = model.engine()
        for _ in range(50):
            serve(engine, *(asking(str(number), (number, 1, 2)) for number in range(batch)))
        prefill, decode = phases(engine)
        assert prefill.seconds + decode.seconds == pytest.approx(model.busy_s)
        speeds.append(decode.speed)
    alone, together = speeds
    assert 50 < alone < 91 < together < 445, "a step takes 0.011 s alone, and 0.018 s for eight"


def test_time_without_work_changes_nothing() -> None:
    model = TimedModel()
    engine = model.engine()
    serve(engine, asking("a"))
    before = engine.stats().throughput
    model.clock.pass_on(1e6)
    assert engine.step() == []
    assert engine.stats().throughput == before
    serve(engine, asking("b"))
    prefill, decode = phases(engine)
    assert prefill.seconds + decode.seconds == pytest.approx(model.busy_s)


def test_what_is_found_in_the_cache_was_not_read() -> None:
    engine = TimedModel().engine()
    serve(engine, asking("a", tuple(range(7))))
    serve(engine, asking("b", tuple(range(7))))
    prefill, decode = phases(engine)
    assert (prefill.tokens, decode.tokens) == (7 + 1, 40)


def test_a_prompt_is_read_once_however_many_choices_it_has() -> None:
    model = TimedModel()
    engine = model.engine(Batching(prefix_cache=False))
    serve(engine, asking("a", tuple(range(8)), choices=3))
    prefill, decode = phases(engine)
    assert (prefill.tokens, decode.tokens) == (8, 60)
    assert prefill.seconds + decode.seconds == pytest.approx(model.busy_s)


def test_what_is_computed_again_for_want_of_room_takes_its_time_from_the_answers() -> None:
    model = TimedModel()
    engine = model.engine(Batching(max_running=4), blocks=24)
    serve(engine, *(asking(str(number), (number, 1, 2, 3), max_tokens=24) for number in range(4)))
    prefill, decode = phases(engine)
    assert engine.stats().preemptions > 0
    assert (prefill.tokens, decode.tokens) == (16, 96)
    assert prefill.seconds + decode.seconds == pytest.approx(model.busy_s)
    assert prefill.seconds < 0.05


def test_a_step_that_failed_is_not_counted() -> None:
    clock = HandClock()

    def fail(plan: StepPlan) -> None:
        clock.pass_on(5.0)
        raise RuntimeError

    engine = hash_engine(HashRunner(on_step=fail), clock=clock)
    before = engine.stats()
    serve(engine, asking("a"))
    assert engine.stats() == before
