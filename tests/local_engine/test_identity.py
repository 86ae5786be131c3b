"""The same tokens, whoever shares the batch: real arithmetic, greedy and seeded, with the prefix cache on and off."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from local_engine.config import Batching
from local_engine.engine import Engine
from local_engine.measure.machine import Machine
from local_engine.measure.probe import Speeds
from local_engine.model.runner import PagedRunner
from local_engine.request import Delta, Ended, Request
from local_engine.sample.sampler import sample
from local_engine.text.chat import ChatTemplate
from local_engine.text.tokenizer import Tokenizer
from local_engine.types import Numerics, SamplingParams
from tests.support.bundled import open_bundled
from tests.support.tiny_model import tiny_runner
from tests.support.tiny_text import tiny_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from local_engine.types import Runner


def tokens_of(
    runner: Runner, tokenizer: Tokenizer, batching: Batching, waves: Sequence[Sequence[Request]]
) -> tuple[dict[str, tuple[int, ...]], int]:
    """Run waves of requests, three steps apart, and return everyone's tokens and how often one was preempted."""
    engine = Engine(runner, tokenizer, sample, batching, Machine(lambda: 0.0), Speeds(1000.0, 50.0))
    tokens: defaultdict[str, list[int]] = defaultdict(list)
    pending = list(waves)
    steps = 0
    while pending or engine.has_work:
        if pending and steps % 3 == 0:
            for request in pending.pop(0):
                engine.add(request)
        for event in engine.step():
            if isinstance(event, Delta):
                tokens[f"{event.request_id}/{event.choice}"] += [each.token for each in event.logprobs]
            else:
                assert isinstance(event, Ended)
                assert event.error is None
        engine.cache.check()
        steps += 1
    assert engine.cache.available == engine.cache.total
    return {name: tuple(each) for name, each in tokens.items()}, engine.stats().preemptions


def one_by_one(runner: Runner, tokenizer: Tokenizer, requests: Sequence[Request]) -> dict[str, tuple[int, ...]]:
    """Run each request alone, without a prefix cache, in whole prefills."""
    alone: dict[str, tuple[int, ...]] = {}
    for request in requests:
        tokens, _ = tokens_of(runner, tokenizer, Batching(step_tokens=4096, prefix_cache=False), [[request]])
        alone |= tokens
    return alone


def tiny_requests(seed: int, count: int) -> list[Request]:
    chance = random.Random(seed)
    shared = tuple(chance.randrange(3, 259) for _ in range(40))
    requests: list[Request] = []
    for number in range(count):
        prompt = shared[: chance.randrange(41)] + tuple(
            chance.randrange(3, 259) for _ in range(chance.randrange(1, 30))
        )
        params = SamplingParams(
            max_tokens=chance.randrange(1, 40),
            temperature=chance.choice([0.0, 0.7, 1.3]),
            top_p=chance.choice([1.0, 0.9]),
            seed=number,
            repetition_penalty=chance.choice([1.0, 1.2]),
            logprobs=0,
        )
        requests.append(Request(f"r{number}", prompt, params, choices=chance.choice([1, 1, 3])))
    return requests


@pytest.mark.parametrize("prefix_cache", [True, False])
@pytest.mark.parametrize("blocks", [30, 400])
def test_requests_together_get_the_tokens_they_get_alone(prefix_cache: bool, blocks: int) -> None:
    requests = tiny_requests(seed=blocks, count=40)
    alone = one_by_one(tiny_runner(Numerics.FP32, num_blocks=64, block_size=4), tiny_tokenizer(), requests)
    batching = Batching(step_tokens=24, max_running=12, prefix_cache=prefix_cache)
    runner = tiny_runner(Numerics.FP32, num_blocks=blocks, block_size=4)
    waves = [requests[i : i + 5] for i in range(0, 40, 5)]
    together, preemptions = tokens_of(runner, tiny_tokenizer(), batching, waves)
    assert together == alone
    assert (preemptions > 0) == (blocks == 30)


QUESTIONS = (
    "What is the capital of France?",
    "Count from one to ten.",
    "Write a haiku about the sea.",
    "Translate 'good morning' into Spanish, German and Italian, and say which of them you find easiest to pronounce.",
)


def test_32_chats_with_the_bundled_model_get_the_tokens_they_get_alone() -> None:
    file = open_bundled()
    assert file.chat_template is not None
    tokenizer = Tokenizer(file.vocabulary)
    template = ChatTemplate(file.chat_template, tokenizer)
    runner = PagedRunner.build(file.spec, file.read_weights(), numerics=Numerics.FP32, num_blocks=256)
    requests: list[Request] = []
    for number in range(32):
        question = f"{QUESTIONS[number % 4]} {'Please. ' * (number // 8)}"
        prompt = template.render([{"role": "user", "content": question}])
        params = SamplingParams(max_tokens=4 + number % 5, temperature=0.0, logprobs=0)
        requests.append(Request(f"r{number}", tuple(prompt), params))
    alone = one_by_one(runner, tokenizer, requests)
    for prefix_cache in (True, False):
        batching = Batching(step_tokens=256, prefix_cache=prefix_cache)
        together, _ = tokens_of(runner, tokenizer, batching, [requests[:20], requests[20:]])
        assert together == alone
