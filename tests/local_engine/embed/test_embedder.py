import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from local_engine.embed.embedder import Embedder, Encoder
from local_engine.errors import ContextTooLong, EngineStopped, Overloaded
from local_engine.measure.machine import Machine
from local_engine.measure.probe import Speeds
from tests.support.clocks import HandClock
from tests.support.engine_server import Gate, LetterEncoder
from tests.support.waiting import until

SPEEDS = Speeds(prefill=1.0, decode=None)


class BrokenEncoder(LetterEncoder):
    def encode(self, texts: Sequence[str]) -> np.ndarray:
        raise RuntimeError


def embedder_of(encoder: Encoder) -> Embedder:
    return Embedder("letters", encoder, SPEEDS, Machine(lambda: 0.0), stall_after_s=30.0)


async def test_vectors_come_back_to_those_who_asked_in_their_order() -> None:
    encoder = LetterEncoder()
    embedder = embedder_of(encoder)
    first, second, third = await asyncio.gather(*(embedder.embed(texts) for texts in (["aa"], ["b", "c d"], ["e"])))
    assert first.vectors[0].argmax() == 0
    assert [vector.argmax() for vector in second.vectors] == [1, 2]
    assert (second.tokens, third.tokens) == (3, 1)
    assert encoder.batches == [4], "what comes at once shares one batch"
    await embedder.close(5.0)


async def test_a_text_that_is_too_long_is_refused_and_its_batch_mates_are_served() -> None:
    embedder = embedder_of(LetterEncoder())
    answers = await asyncio.gather(embedder.embed(["a " * 9]), embedder.embed(["b"]), return_exceptions=True)
    assert isinstance(answers[0], ContextTooLong)
    assert (answers[0].prompt_tokens, answers[0].limit) == (9, 8)
    assert not isinstance(answers[1], BaseException)
    await embedder.close(5.0)


async def test_a_batch_is_bounded() -> None:
    encoder = LetterEncoder()
    embedder = embedder_of(encoder)
    await asyncio.gather(*(embedder.embed(["a"] * 30) for _ in range(4)))
    assert max(encoder.batches) <= 64
    assert sum(encoder.batches) == 120
    await embedder.close(5.0)


async def test_a_failing_model_fails_its_batch_and_not_the_embedder() -> None:
    embedder = embedder_of(BrokenEncoder())
    for _ in range(2):
        with pytest.raises(RuntimeError):
            await embedder.embed(["a"])
    await embedder.close(5.0)


async def test_a_caller_that_leaves_does_not_disturb_the_others() -> None:
    embedder = embedder_of(LetterEncoder())
    leaving = asyncio.create_task(embedder.embed(["a"]))
    staying = asyncio.create_task(embedder.embed(["b"]))
    await asyncio.sleep(0)
    leaving.cancel()
    assert (await staying).tokens == 1
    await embedder.close(5.0)


async def test_who_asks_for_much_gives_way_after_each_slice() -> None:
    gate = Gate()
    encoder = LetterEncoder(gate)
    embedder = embedder_of(encoder)
    much = asyncio.create_task(embedder.embed(["a"] * 1000))
    await until(gate.entered.is_set)
    little = asyncio.create_task(embedder.embed(["b"]))
    await asyncio.sleep(0)
    gate.opened.set()
    assert (await little).tokens == 1
    assert not much.done()
    found = await much
    assert (found.vectors.shape, found.tokens) == ((1000, 26), 1000)
    assert max(encoder.batches) == 64
    await embedder.close(5.0)


async def test_how_fast_it_reads_follows_the_texts_it_has_read_and_no_others() -> None:
    clock = HandClock()
    embedder = Embedder(
        "letters", LetterEncoder(lambda: clock.pass_on(1.0)), SPEEDS, Machine(clock), stall_after_s=30.0
    )
    await embedder.embed(["a b", "c"])
    with pytest.raises(ContextTooLong):
        await embedder.embed(["a " * 9])
    clock.pass_on(100.0)
    assert (embedder.throughput.prefill.tokens, embedder.throughput.prefill.seconds) == (3, 1.0)
    assert 1.0 < embedder.speeds.prefill < 1.1
    await embedder.close(5.0)


async def test_what_those_asked_for_who_left_is_not_computed() -> None:
    gate = Gate()
    encoder = LetterEncoder(gate)
    embedder = embedder_of(encoder)
    leaving = [asyncio.create_task(embedder.embed(["a"] * 1000)) for _ in range(3)]
    await until(gate.entered.is_set)
    for each in leaving:
        each.cancel()
    await asyncio.wait(leaving)
    gate.opened.set()
    assert (await embedder.embed(["b"])).tokens == 1
    assert encoder.batches == [64, 1]
    await embedder.close(5.0)


async def test_beyond_the_bound_of_waiting_texts_requests_are_refused_with_a_time() -> None:
    gate = Gate()
    embedder = embedder_of(LetterEncoder(gate))
    asked = [asyncio.create_task(embedder.embed(["a"] * 2048)) for _ in range(2)]
    await until(gate.entered.is_set)
    with pytest.raises(Overloaded) as refused:
        await embedder.embed(["b"] * 65)
    assert 1 <= refused.value.retry_after_s <= 60
    for each in asked:
        each.cancel()
    await asyncio.wait(asked)
    gate.opened.set()
    assert (await embedder.embed(["b"] * 65)).tokens == 65
    await embedder.close(5.0)


async def test_closing_waits_for_the_running_slice_and_refuses_the_rest() -> None:
    gate = Gate()
    encoder = LetterEncoder(gate)
    embedder = embedder_of(encoder)
    whole = asyncio.create_task(embedder.embed(["a"]))
    unfinished = asyncio.create_task(embedder.embed(["b"] * 100))
    await until(gate.entered.is_set)
    closing = asyncio.create_task(embedder.close(20.0))
    with pytest.raises(EngineStopped):
        await unfinished
    gate.opened.set()
    await closing
    assert (await whole).tokens == 1
    assert encoder.batches == [64]


async def test_closing_leaves_a_slice_that_outlasts_the_grace() -> None:
    gate = Gate()
    embedder = embedder_of(LetterEncoder(gate))
    asking = asyncio.create_task(embedder.embed(["a"]))
    await until(gate.entered.is_set)
    await embedder.close(0.0)
    with pytest.raises(EngineStopped):
        await asking
    gate.opened.set()


async def test_a_text_without_end_is_refused_by_its_beginning() -> None:
    embedder = embedder_of(LetterEncoder())
    for text, least in (("a " * 50_000, 8192), ("a" * 100_000, 9)):
        with pytest.raises(ContextTooLong, match="at least") as refused:
            await embedder.embed(["b", text])
        assert refused.value.prompt_tokens == least
    await embedder.close(5.0)


async def test_a_closed_embedder_refuses() -> None:
    embedder = embedder_of(LetterEncoder())
    await embedder.close(5.0)
    with pytest.raises(EngineStopped):
        await embedder.embed(["a"])
