from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from local_engine.cache.radix import Namespace
from local_engine.config import AdmissionKind, Batching
from local_engine.errors import ContextTooLong, InvalidRequest, TokenOutOfVocabulary
from local_engine.request import Delta, Ended, Event, Request, Usage
from local_engine.sample.sampler import sample
from local_engine.types import FinishReason, SamplingParams, StepPlan
from tests.support.hash_engine import VOCAB, HashRunner, hash_engine, run_to_end

PROMPT = (1, 2, 3, 4, 5, 6, 7)


def asking(
    request_id: str = "r", prompt: tuple[int, ...] = PROMPT, *, choices: int = 1, salt: str = "", **params: object
) -> Request:
    sampling = replace(SamplingParams(max_tokens=8, temperature=0.0, logprobs=0, ignore_eos=True), **params)  # pyright: ignore[reportArgumentType] -- tests name fields freely
    return Request(request_id, prompt, sampling, choices, Namespace(salt))


def tokens_of(events: Iterable[Event]) -> dict[tuple[str, int], list[int]]:
    tokens: dict[tuple[str, int], list[int]] = defaultdict(list)
    for event in events:
        if isinstance(event, Delta):
            tokens[event.request_id, event.choice] += [each.token for each in event.logprobs]
    return tokens


def text_of(events: Iterable[Event], choice: int = 0) -> str:
    return "".join(event.text for event in events if isinstance(event, Delta) and event.choice == choice)


def ended(events: Iterable[Event]) -> dict[str, Ended]:
    return {event.request_id: event for event in events if isinstance(event, Ended)}


@cache
def alone(request: Request) -> list[int]:
    """The tokens a request gets on an engine of its own, without a prefix cache."""
    engine = hash_engine(HashRunner(), Batching(prefix_cache=False))
    engine.add(request)
    return tokens_of(run_to_end(engine))[request.request_id, 0]


def test_a_request_ends_with_its_length_and_its_usage() -> None:
    engine = hash_engine()
    engine.add(asking())
    events = run_to_end(engine)
    assert events[-1] == Ended("r", FinishReason.LENGTH, Usage(prompt=7, completion=8, cached=0))
    assert len(tokens_of(events)["r", 0]) == 8
    assert not engine.has_work


def test_a_stop_text_is_left_out_and_named() -> None:
    whole = text_of(run_once(asking()))
    events = run_once(asking(stop=(whole[3:5],)))
    assert text_of(events) == whole[:3]
    last = [event for event in events if isinstance(event, Delta)][-1]
    assert (last.finish, last.stop) == (FinishReason.STOP, whole[3:5])
    assert text_of(run_once(asking(stop=(whole[3:5],), include_stop=True))) == whole[:5]


def test_a_held_back_beginning_of_a_stop_text_is_sent_when_the_length_is_reached() -> None:
    whole = text_of(run_once(asking()))
    assert text_of(run_once(asking(stop=(whole[-1] + "!",)))) == whole


def test_every_token_is_told_also_while_its_text_is_held_back() -> None:
    whole = text_of(run_once(asking()))
    for stop in ((whole + "!",), (whole[1:] + "!",), ()):
        deltas = [event for event in run_once(asking(stop=stop)) if isinstance(event, Delta)]
        assert [delta.usage.completion for delta in deltas] == list(range(1, 9))


def test_stop_texts_do_not_count_within_the_first_min_tokens() -> None:
    whole = text_of(run_once(asking()))
    assert text_of(run_once(asking(stop=(whole[1],), min_tokens=2))).startswith(whole[:2])


def test_a_stop_token_ends_a_choice_and_is_named() -> None:
    tokens = alone(asking())
    events = run_once(asking(stop_token_ids=frozenset({tokens[2]})))
    last = [event for event in events if isinstance(event, Delta)][-1]
    assert last.stop == tokens[2]
    assert ended(events)["r"].usage.completion == tokens.index(tokens[2]) + 1


def test_the_end_of_text_stops_unless_it_is_ignored_or_too_early() -> None:
    prompt = next(p for p in ((i, j) for i in range(30) for j in range(30)) if 30 in alone(asking(prompt=p))[2:5])
    at = alone(asking(prompt=prompt)).index(30)
    events = run_once(asking(prompt=prompt, ignore_eos=False))
    assert ended(events)["r"].finish is FinishReason.STOP
    assert ended(events)["r"].usage.completion == at + 1
    later = run_once(asking(prompt=prompt, ignore_eos=False, min_tokens=at + 2))
    assert ended(later)["r"].usage.completion > at + 1


def test_choices_share_the_prompt_differ_and_repeat() -> None:
    prompt = tuple(range(20))
    request = asking(prompt=prompt, choices=3, temperature=5.0, seed=11)
    runner = HashRunner()
    computed: Counter[int] = Counter()
    runner.on_step = lambda plan: computed.update({c.start + i: 1 for c in plan.chunks for i in range(len(c.tokens))})
    engine = hash_engine(runner)
    engine.add(request)
    events = run_to_end(engine)
    tokens = tokens_of(events)
    assert len({tuple(tokens["r", index]) for index in range(3)}) == 3
    assert tokens == tokens_of(run_once(request))
    assert tokens["r", 0] == alone(asking(prompt=prompt, temperature=5.0, seed=11))
    assert all(computed[position] == 1 for position in range(18)), "the prompt's full blocks are computed once"
    assert ended(events)["r"].usage == Usage(prompt=20, completion=24, cached=0)


def test_a_second_identical_request_reports_its_cached_tokens() -> None:
    engine = hash_engine()
    engine.add(asking("a"))
    first = run_to_end(engine)
    engine.add(asking("b"))
    second = run_to_end(engine)
    assert ended(second)["b"].usage.cached == 6
    assert tokens_of(first)["a", 0] == tokens_of(second)["b", 0]
    assert engine.stats().prefix_hit_tokens == 6


def test_salts_do_not_share_prefixes() -> None:
    engine = hash_engine()
    engine.add(asking("a", salt="one"))
    run_to_end(engine)
    engine.add(asking("b", salt="two"))
    assert ended(run_to_end(engine))["b"].usage.cached == 0


def test_an_abort_is_consumed_at_the_next_step_and_may_be_repeated() -> None:
    engine = hash_engine()
    engine.add(asking("a", choices=2))
    engine.add(asking("b"))
    events = engine.step()
    engine.abort("a")
    engine.abort("a")
    engine.abort("nobody")
    events += run_to_end(engine)
    engine.abort("a")
    assert ended(events)["a"].finish is FinishReason.ABORT
    assert ended(events)["b"].finish is FinishReason.LENGTH
    assert [event.request_id for event in events if isinstance(event, Ended)].count("a") == 1
    assert engine.cache.available == engine.cache.total


def test_a_waiting_request_can_be_aborted() -> None:
    engine = hash_engine(batching=Batching(max_running=1))
    engine.add(asking("a"))
    engine.add(asking("b"))
    engine.step()
    engine.abort("b")
    assert ended(engine.step())["b"].usage.completion == 0
    assert ended(run_to_end(engine))["a"].finish is FinishReason.LENGTH


def test_a_failing_step_ends_its_requests_and_nothing_else() -> None:
    runner = HashRunner()
    engine = hash_engine(runner, Batching(max_running=2))
    for name in "abc":
        engine.add(asking(name, prompt=(ord(name) - 97, *PROMPT)))
    engine.step()

    def fail(plan: StepPlan) -> None:
        runner.on_step = None
        raise RuntimeError("secret prompt text")

    runner.on_step = fail
    events = engine.step()
    assert {name: end.finish for name, end in ended(events).items()} == dict.fromkeys("ab", FinishReason.ERROR)
    assert "secret" not in str(events)
    engine.cache.check()
    assert ended(run_to_end(engine))["c"].finish is FinishReason.LENGTH
    assert engine.cache.available == engine.cache.total


def test_a_request_that_bans_every_token_ends_alone() -> None:
    engine = hash_engine(sampler=sample)
    engine.add(asking("neighbour"))
    events = engine.step()
    everything = frozenset(range(VOCAB))
    engine.add(asking("a", (3, 4), stop_token_ids=everything, min_tokens=1, temperature=1.0, choices=2))
    engine.add(asking("b", (5,), stop_token_ids=everything, min_tokens=1))
    events += run_to_end(engine)
    assert ended(events)["neighbour"] == Ended("neighbour", FinishReason.LENGTH, Usage(7, 8, 0))
    for name in "ab":
        assert ended(events)[name].finish is FinishReason.ERROR
        assert "every token is banned" in (ended(events)[name].error or "")
    assert engine.cache.available == engine.cache.total


class PoisonedRunner(HashRunner):
    """Gives a NaN among the logits of the first sequence."""

    def execute(self, plan: StepPlan) -> torch.Tensor:
        logits = HashRunner.execute(self, plan)
        row = 0
        for chunk in plan.chunks:
            if chunk.wants_logits:
                logits[row, 5] = torch.nan if chunk.sequence_id == 0 else logits[row, 5]
                row += 1
        return logits


def test_logits_that_are_no_numbers_end_their_own_request_and_are_not_kept_for_others() -> None:
    engine = hash_engine(PoisonedRunner(), sampler=sample)
    engine.add(asking("a", choices=2))
    engine.add(asking("b", (8, 9)))
    events = run_to_end(engine)
    assert {name: end.finish for name, end in ended(events).items()} == {
        "a": FinishReason.ERROR,
        "b": FinishReason.LENGTH,
    }
    assert engine.cache.cached == 4, "the blocks of b alone"


@pytest.mark.parametrize("admission", list(AdmissionKind))
def test_every_admission_gives_the_same_tokens(admission: AdmissionKind) -> None:
    ticks = iter(range(1_000_000))
    batching = Batching(max_running=3, step_tokens=5, admission=admission, window_s=4.0)
    engine = hash_engine(batching=batching, clock=lambda: float(next(ticks)))
    requests = [asking(f"r{i}", prompt=(*PROMPT[:i], i), max_tokens=3 + i) for i in range(5)]
    for request in requests:
        engine.add(request)
    tokens = tokens_of(run_to_end(engine))
    assert all(tokens[request.request_id, 0] == alone(request) for request in requests)


REFUSED = {
    "an empty prompt": (asking(prompt=()), InvalidRequest),
    "no tokens": (asking(max_tokens=0), InvalidRequest),
    "no choices": (asking(choices=0), InvalidRequest),
    "more than the context": (asking(max_tokens=10_000), ContextTooLong),
    "an unknown token": (asking(prompt=(VOCAB,)), TokenOutOfVocabulary),
    "an unknown biased token": (asking(logit_bias=((-1, 1.0),)), TokenOutOfVocabulary),
    "an unknown stop token": (asking(stop_token_ids=frozenset({VOCAB})), TokenOutOfVocabulary),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_can_never_be_served_is_refused(case: str) -> None:
    request, error = REFUSED[case]
    engine = hash_engine()
    with pytest.raises(error):
        engine.add(request)
    assert not engine.has_work


def test_a_request_that_outgrows_the_pool_is_refused_with_the_counts() -> None:
    engine = hash_engine(HashRunner(num_blocks=4, block_size=2))
    with pytest.raises(ContextTooLong) as refused:
        engine.add(asking())
    assert (refused.value.prompt_tokens, refused.value.max_tokens, refused.value.limit) == (7, 8, 8)


def run_once(request: Request) -> list[Event]:
    engine = hash_engine()
    engine.add(request)
    return run_to_end(engine)


class EngineUnderPressure(RuleBasedStateMachine):
    """Random requests, steps, aborts and failures on a pool that is always too small."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = HashRunner(num_blocks=11, block_size=2)
        self.engine = hash_engine(self.runner, Batching(max_running=4, step_tokens=6))
        self.requests: dict[str, Request] = {}
        self.events: list[Event] = []

    @rule(
        prompt=st.lists(st.integers(0, 1), min_size=1, max_size=9).map(tuple),
        max_tokens=st.integers(1, 12),
        seed=st.integers(0, 2),
        choices=st.integers(1, 3),
        salt=st.sampled_from(["", "x"]),
        ignore_eos=st.booleans(),
    )
    def add(
        self, prompt: tuple[int, ...], max_tokens: int, seed: int, choices: int, salt: str, ignore_eos: bool
    ) -> None:
        name = f"r{len(self.requests)}"
        request = asking(
            name,
            prompt,
            choices=choices,
            salt=salt,
            max_tokens=max_tokens,
            seed=seed,
            ignore_eos=ignore_eos,
            temperature=float(seed),
        )
        self.requests[name] = request
        self.engine.add(request)

    @rule(steps=st.integers(1, 6))
    def step(self, steps: int) -> None:
        for _ in range(steps):
            self.events += self.engine.step()
            self.engine.cache.check()

    @precondition(lambda self: bool(self.requests))
    @rule(data=st.data())
    def abort(self, data: st.DataObject) -> None:
        self.engine.abort(data.draw(st.sampled_from(sorted(self.requests))))

    @rule()
    def fail_next_step(self) -> None:
        def fail(plan: StepPlan) -> None:
            self.runner.on_step = None
            raise RuntimeError

        self.runner.on_step = fail

    @invariant()
    def queues_and_leases_agree(self) -> None:
        scheduler = self.engine.scheduler
        assert all(sequence.lease is not None for sequence in scheduler.running)
        assert all(sequence.lease is None and sequence.computed == 0 for sequence in scheduler.waiting)
        for queue in (scheduler.running, scheduler.waiting):
            order = [sequence.sequence_id for sequence in queue]
            assert order == sorted(order)
        assert len(scheduler.running) <= 4

    def teardown(self) -> None:
        self.events += run_to_end(self.engine)
        ends = Counter(event.request_id for event in self.events if isinstance(event, Ended))
        assert ends == dict.fromkeys(self.requests, 1)
        assert self.engine.cache.available == self.engine.cache.total
        tokens = tokens_of(self.events)
        for name, end in ended(self.events).items():
            expected = alone(replace(self.requests[name], request_id="solo", choices=1))
            if end.finish in {FinishReason.STOP, FinishReason.LENGTH}:
                assert tokens[name, 0] == expected
                assert end.usage.completion == sum(len(tokens[name, i]) for i in range(self.requests[name].choices))
            else:
                assert tokens[name, 0] == expected[: len(tokens[name, 0])]


EngineUnderPressure.TestCase.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)
test_under_pressure_every_request_ends_once_as_if_it_were_alone = EngineUnderPressure.TestCase
