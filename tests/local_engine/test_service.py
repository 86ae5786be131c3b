import asyncio

import pytest

from local_engine.config import AdmissionKind, Batching
from local_engine.errors import ContextTooLong, EngineStopped, InvalidRequest, Overloaded
from local_engine.request import Delta, Ended, Request, Usage
from local_engine.types import FinishReason, SamplingParams, StepPlan
from tests.support.engine_server import Gate, hash_runner, is_idle, service_of, serving
from tests.support.waiting import until


def asking(name: str, max_tokens: int = 4, choices: int = 1) -> Request:
    return Request(name, (5, 6, 7), SamplingParams(max_tokens=max_tokens, ignore_eos=True), choices)


async def test_events_arrive_and_end_with_one_terminal_event() -> None:
    async with serving() as models:
        events = [event async for event in service_of(models).submit([asking("a"), asking("b", choices=2)])]
        ended = {event.request_id: event for event in events if isinstance(event, Ended)}
        assert {name: end.usage.completion for name, end in ended.items()} == {"a": 4, "b": 8}
        assert isinstance(events[-1], Ended)
        assert sum(isinstance(event, Ended) for event in events) == 2
        assert is_idle(models)


async def test_leaving_the_stream_aborts_and_frees() -> None:
    async with serving() as models:
        async with service_of(models).submit([asking("a", 400)]) as stream:
            assert isinstance(await anext(stream), Delta)
        await until(lambda: is_idle(models))


async def test_cancelling_the_reader_aborts_and_frees() -> None:
    async with serving() as models:
        reading = asyncio.Event()

        async def read() -> None:
            async with service_of(models).submit([asking("a", 400)]) as stream:
                async for _ in stream:
                    reading.set()

        task = asyncio.create_task(read())
        await reading.wait()
        task.cancel()
        await until(lambda: is_idle(models))


async def test_a_stream_that_was_never_read_can_be_closed() -> None:
    async with serving() as models:
        stream = service_of(models).submit([asking("a", 400)])
        stream.close()
        stream.close()
        await until(lambda: is_idle(models))


async def test_a_full_queue_refuses_all_of_a_submit_and_names_a_time() -> None:
    gate = Gate()
    async with serving(hash_runner(on_step=gate), max_open=3) as models:
        service = service_of(models)
        first = service.submit([asking("a", choices=2)])
        with pytest.raises(Overloaded) as refused:
            service.submit([asking("b"), asking("c")])
        assert 1 <= refused.value.retry_after_s <= 60
        gate.opened.set()
        assert [event async for event in first]
        assert [event async for event in service.submit([asking("b"), asking("c")])]


async def test_more_choices_than_can_ever_be_in_flight_are_invalid() -> None:
    async with serving(max_open=3) as models:
        with pytest.raises(InvalidRequest, match="at most 3"):
            service_of(models).submit([asking("a", choices=4)])


async def test_what_can_never_be_served_is_refused_before_it_is_queued() -> None:
    async with serving() as models:
        with pytest.raises(ContextTooLong):
            service_of(models).submit([asking("a"), asking("b", 100_000)])
        assert is_idle(models)


async def test_an_id_in_flight_cannot_be_used_again() -> None:
    gate = Gate()
    async with serving(hash_runner(on_step=gate)) as models:
        stream = service_of(models).submit([asking("a")])
        with pytest.raises(InvalidRequest, match="in flight"):
            service_of(models).submit([asking("a")])
        gate.opened.set()
        assert [event async for event in stream]


async def test_stopping_lets_requests_finish_within_the_grace() -> None:
    async with serving() as models:
        service = service_of(models)
        stream = service.submit([asking("a", 20)])
        await service.stop(grace_s=20.0)
        events = [event async for event in stream]
        assert isinstance(events[-1], Ended)
        assert events[-1].finish is FinishReason.LENGTH


async def test_stopping_aborts_what_outlasts_the_grace_and_refuses_what_comes_later() -> None:
    gate = Gate()
    async with serving(hash_runner(on_step=gate)) as models:
        service = service_of(models)
        stream = service.submit([asking("a", 400)])
        await until(gate.entered.is_set)
        stopping = asyncio.create_task(service.stop(grace_s=0.0))
        await asyncio.sleep(0)
        gate.opened.set()
        await stopping
        events = [event async for event in stream]
        assert isinstance(events[-1], Ended)
        assert events[-1].finish is FinishReason.ABORT
        with pytest.raises(EngineStopped):
            service.submit([asking("b")])
        assert not service.is_healthy
        assert is_idle(models)


async def test_a_thread_that_dies_ends_its_requests_and_shows_in_the_health() -> None:
    def die(plan: StepPlan) -> None:
        raise SystemExit

    async with serving(hash_runner(on_step=die)) as models:
        service = service_of(models)
        events = [event async for event in service.submit([asking("a")])]
        assert [event.finish for event in events if isinstance(event, Ended)] == [FinishReason.ERROR]
        await until(lambda: not service.is_healthy)
        with pytest.raises(EngineStopped):
            service.submit([asking("b")])


async def test_a_step_that_does_not_end_makes_the_service_unhealthy_until_it_does() -> None:
    now = [0.0]
    gate = Gate()
    async with serving(hash_runner(on_step=gate), stall_after_s=5.0, clock=lambda: now[0]) as models:
        service = service_of(models)
        now[0] = 100.0
        assert service.is_healthy, "nothing to do is no stall"
        stream = service.submit([asking("a")])
        now[0] = 104.0
        assert service.is_healthy
        now[0] = 106.0
        assert not service.is_healthy
        gate.opened.set()
        assert [event async for event in stream]
        assert service.is_healthy


async def test_a_thread_that_dies_is_lost_and_its_requests_keep_what_was_counted() -> None:
    steps = [0]

    def die(plan: StepPlan) -> None:
        steps[0] += 1
        if steps[0] == 4:
            raise SystemExit

    async with serving(hash_runner(on_step=die)) as models:
        service = service_of(models)
        assert not service.is_lost
        *_, last = [event async for event in service.submit([asking("a", 9)])]
        assert isinstance(last, Ended)
        assert last.usage == Usage(prompt=3, completion=3, cached=0)
        assert service.is_lost


async def test_a_step_that_takes_several_times_what_it_may_is_lost_and_stopping_does_not_wait_for_it() -> None:
    now = [0.0]
    gate = Gate()
    async with serving(hash_runner(on_step=gate), stall_after_s=5.0, clock=lambda: now[0]) as models:
        service = service_of(models)
        stream = service.submit([asking("a")])
        await until(gate.entered.is_set)
        now[0] = 19.0
        assert not service.is_lost
        now[0] = 21.0
        assert service.is_lost
        await service.stop(grace_s=1000.0)
        [last] = [event async for event in stream]
        assert isinstance(last, Ended)
        assert last.finish is FinishReason.ERROR
        gate.opened.set()


async def test_a_dynamic_batch_starts_when_its_window_closes() -> None:
    batching = Batching(admission=AdmissionKind.DYNAMIC, window_s=0.02)
    async with serving(batching=batching) as models:
        events = [event async for event in service_of(models).submit([asking("a")])]
        assert isinstance(events[-1], Ended)
